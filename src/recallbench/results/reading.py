from recallbench.reading import *  # noqa: F403
from recallbench.reading import document, lines, objects, parsed, regular, state  # noqa: F401
