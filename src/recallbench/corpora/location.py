"""The places of corpus files on this machine, and how a missing one is got."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from recallbench.corpora.field_reader import registered_file_hint
from recallbench.corpora.release import Release
from recallbench.errors import Blocked, InputError
from recallbench.protocol.rules import CorpusRules

DATA_DIR = "RECALLBENCH_DATA_DIR"


def data_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder that `fetch` uses: RECALLBENCH_DATA_DIR, else ./data if there is one, else the user's data
    folder."""
    if named := environ.get(DATA_DIR):
        return Path(named).expanduser()
    if Path("data").is_dir():
        return Path("data")
    import platformdirs

    return Path(platformdirs.user_data_dir("recallbench", appauthor=False))


def locate(rules: CorpusRules, option: Path | None, environ: Mapping[str, str]) -> Path:
    """The corpus file: the option's, else the environment variable's, else the fetched one.

    Option and variable name the file, its folder, or a clone of its repository, which keeps it under `data`.

    A named place without the file is an error, never passed over for the next one. Raises Blocked, with
    the command that fetches the corpus, where nothing was named and nothing was fetched.
    """
    if option is not None:
        path = _inside(option.expanduser(), rules)
        if not path.is_file():
            raise InputError(
                f"no corpus file at {path}",
                expected=f"a file in the shape of {rules.file}, or a folder that holds {rules.file}",
                found=_what_is_at(option.expanduser(), path),
                remedy=f"name an existing file with --corpus-file, or none: {registered_file_hint(rules.name)}",
            )
        return path
    if rules.variable and (named := environ.get(rules.variable)):
        path = _inside(Path(named).expanduser(), rules)
        if not path.is_file():
            raise Blocked(
                f"{rules.variable} names {named}, where the {rules.name} file is not",
                expected=str(path),
                found=_what_is_at(Path(named).expanduser(), path),
                remedy=f"put the file there, or unset {rules.variable} and run `recallbench fetch {rules.name}`",
            )
        return path
    path = data_folder(environ) / rules.file
    if not path.is_file():
        raise Blocked(
            f"the {rules.name} corpus is not on this machine",
            expected=f"{path}" + (f", or {rules.variable} naming its folder" if rules.variable else ""),
            found="no such file",
            remedy=f"recallbench fetch {rules.name}",
        )
    return path


def locate_release(rules: CorpusRules, release: Release, option: Path | None, environ: Mapping[str, str]) -> Path:
    """The folder that holds the files of a release by their names: the option's, the variable's, or the fetched one.

    Each names a clone of the repository, a folder that holds such a folder under the corpus' name, or the topmost
    folder of the files. Raises Blocked, with the command that fetches them, where nothing was named or fetched.
    """
    variable = environ.get(rules.variable, "")
    named = option or (Path(variable) if variable else None)
    if named is None:
        root = data_folder(environ) / release.folder
        if _holds(root, release):
            return root
        raise Blocked(
            f"the {rules.name} corpus is not on this machine",
            expected=f"{root}, or {rules.variable} naming a clone of {rules.source}",
            found="none of its files" if root.is_dir() else "no such folder",
            remedy=f"recallbench fetch {rules.name}",
        )
    named = named.expanduser()
    for root in (named, named / release.folder, named.parent):
        if _holds(root, release):
            return root
    raise (InputError if option is not None else Blocked)(
        f"no file of {rules.name} at {named}",
        expected=f"a clone of {rules.source}, or a folder with {release.patterns[0]}",
        found="a folder without one"
        if named.is_dir()
        else f"a file; {rules.name} is a folder"
        if named.is_file()
        else "no such folder",
        remedy=f"name it with {'--corpus-file' if option is not None else rules.variable}, or `recallbench fetch "
        f"{rules.name}`",
    )


def _holds(root: Path, release: Release) -> bool:
    """Whether any file of a release lies below that folder."""
    return any((root / name).is_file() for name in release.files) or any(
        next(root.glob(pattern), None) for pattern in release.patterns
    )


def _inside(named: Path, rules: CorpusRules) -> Path:
    if not named.is_dir():
        return named
    within = (named / rules.file, named / "data" / rules.file)
    return next((path for path in within if path.is_file()), within[0])


def _what_is_at(named: Path, path: Path) -> str:
    if named.is_dir():
        return f"a folder without {path.name} or data/{path.name}"
    return "something that is not a file" if path.exists() else "no such file or folder"
