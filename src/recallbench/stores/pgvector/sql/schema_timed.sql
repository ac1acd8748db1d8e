-- In place of postings, where each question sees a part of its scope: how often each segment has each lexeme.

CREATE UNLOGGED TABLE occurrences (
    scope integer NOT NULL,
    lexeme text COLLATE "C" NOT NULL,
    ids bigint[] NOT NULL,
    frequencies double precision[] NOT NULL,
    PRIMARY KEY (scope, lexeme)
);
ALTER TABLE occurrences ALTER ids SET STATISTICS 0, ALTER frequencies SET STATISTICS 0;

CREATE UNLOGGED TABLE segment_lengths (
    scope integer NOT NULL,
    id bigint NOT NULL,
    length double precision NOT NULL,
    PRIMARY KEY (scope, id)
);
