-- Boots that were watched from within, by what disturbs them: why, never how fast. They have no
-- samples, so that no verdict can be drawn from their times.
CREATE TABLE observation (
    id           INTEGER PRIMARY KEY,
    trial        INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    variant      INTEGER NOT NULL,
    kind         TEXT    NOT NULL CONSTRAINT "an observation has a kind" CHECK (kind <> ''),
    seed         INTEGER NOT NULL, -- u64 in two's complement
    started_at   INTEGER NOT NULL,
    ended_at     INTEGER NOT NULL,
    content      BLOB    NOT NULL, -- what was seen, as JSON, gzip
    FOREIGN KEY (variant, trial) REFERENCES variant (id, trial) ON DELETE CASCADE,
    UNIQUE (trial, variant, kind)
) STRICT;
CREATE INDEX observation_by_variant ON observation (variant, trial);
CREATE TRIGGER observation_is_final BEFORE UPDATE ON observation
BEGIN SELECT RAISE(ABORT, 'an observation is never overwritten'); END;
