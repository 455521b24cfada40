-- The first schema. Times are unix milliseconds, durations carry their unit in
-- the name, JSON is text that json_valid() accepts. README.md has the glossary.
--
-- STRICT tables have neither BOOLEAN nor DATE; a flag is an integer, 0 or 1.
-- Constraints have sentences for names, because SQLite shows the name when one fails.

-- "KTRL": tells a ktrial database from other SQLite files.
PRAGMA application_id = 1263817292;

CREATE TABLE machine (
    id           INTEGER PRIMARY KEY,
    key          TEXT    NOT NULL CONSTRAINT "a machine has a key" CHECK (key <> ''),
    hostname     TEXT    NOT NULL,
    cpu_model    TEXT    NOT NULL,
    cpus         INTEGER NOT NULL CONSTRAINT "a machine has at least one cpu" CHECK (cpus > 0),
    memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),
    os_release   TEXT    NOT NULL,
    facts_json   TEXT    NOT NULL CONSTRAINT "facts_json is JSON" CHECK (json_valid(facts_json)),
    UNIQUE (key, hostname, cpu_model, cpus, memory_bytes, os_release, facts_json)
) STRICT;

CREATE TABLE tree (
    id          INTEGER PRIMARY KEY,
    key         TEXT NOT NULL CONSTRAINT "a tree has a key" CHECK (key <> ''),
    system      TEXT NOT NULL CONSTRAINT "a tree is of a named system" CHECK (system <> ''),
    name        TEXT NOT NULL,
    source      TEXT NOT NULL,
    version     TEXT NOT NULL,
    base_commit TEXT NOT NULL,
    base_tree   TEXT NOT NULL,
    UNIQUE (key, system, name, source, version, base_commit, base_tree)
) STRICT;

CREATE TABLE series (
    id     INTEGER PRIMARY KEY,
    key    TEXT NOT NULL CONSTRAINT "a series has a key" CHECK (key <> ''),
    name   TEXT NOT NULL,
    title  TEXT NOT NULL,
    source TEXT NOT NULL,
    UNIQUE (key, name, title, source)
) STRICT;

CREATE TABLE patch (
    series   INTEGER NOT NULL REFERENCES series ON DELETE CASCADE,
    position INTEGER NOT NULL CHECK (position >= 0),
    name     TEXT    NOT NULL,
    text     TEXT    NOT NULL,
    PRIMARY KEY (series, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE kernel (
    id          INTEGER PRIMARY KEY,
    hash        TEXT    NOT NULL CONSTRAINT "a kernel has a hash" CHECK (hash <> ''),
    tree_oid    TEXT    NOT NULL,
    commit_oid  TEXT    NOT NULL,
    config_hash TEXT    NOT NULL,
    toolchain   TEXT    NOT NULL,
    built_at    INTEGER NOT NULL,
    build_ms    INTEGER NOT NULL CHECK (build_ms >= 0),
    size_bytes  INTEGER NOT NULL CHECK (size_bytes >= 0),
    release     TEXT    NOT NULL,
    UNIQUE (hash, tree_oid, commit_oid, config_hash, toolchain, built_at, build_ms, size_bytes,
            release)
) STRICT;

CREATE TABLE trial (
    id             INTEGER PRIMARY KEY,
    plan_key       TEXT    NOT NULL CONSTRAINT "a trial has a plan key" CHECK (plan_key <> ''),
    machine        INTEGER NOT NULL REFERENCES machine,
    tree           INTEGER NOT NULL REFERENCES tree,
    title          TEXT    NOT NULL,
    seed           INTEGER NOT NULL, -- u64 in two's complement
    rounds         INTEGER NOT NULL CONSTRAINT "a trial has at least one round" CHECK (rounds > 0),
    margin         REAL    NOT NULL CONSTRAINT "a margin is a ratio between 0 and 1"
                                    CHECK (margin > 0 AND margin < 1),
    clock          TEXT    NOT NULL CONSTRAINT "a clock is virtual, real or emulated"
                                    CHECK (clock IN ('virtual', 'real', 'emulated')),
    accelerator    TEXT    NOT NULL CONSTRAINT "an accelerator has a name" CHECK (accelerator <> ''),
    shape_json     TEXT    NOT NULL CONSTRAINT "shape_json is JSON" CHECK (json_valid(shape_json)),
    plan_json      TEXT    NOT NULL CONSTRAINT "plan_json is JSON" CHECK (json_valid(plan_json)),
    command_line   TEXT    NOT NULL,
    ktrial_version TEXT    NOT NULL,
    started_at     INTEGER NOT NULL,
    finished_at    INTEGER,
    outcome        TEXT    CONSTRAINT "a trial ends complete or failed"
                           CHECK (outcome IN ('complete', 'failed')),
    failure        TEXT,
    CONSTRAINT "a trial has an outcome when it has an end"
        CHECK ((finished_at IS NULL) = (outcome IS NULL)),
    CONSTRAINT "a trial says why when it failed, and only then"
        CHECK ((outcome IS 'failed') = (failure IS NOT NULL))
) STRICT;
CREATE INDEX trial_by_machine ON trial (machine);
CREATE INDEX trial_by_tree ON trial (tree);
-- A plan that was interrupted is gone on with, not begun a second time.
CREATE UNIQUE INDEX trial_unfinished ON trial (plan_key) WHERE outcome IS NULL;

CREATE TABLE variant (
    id            INTEGER PRIMARY KEY,
    trial         INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    position      INTEGER NOT NULL CHECK (position >= 0),
    name          TEXT    NOT NULL CONSTRAINT "a variant has a name" CHECK (name <> ''),
    series        INTEGER REFERENCES series,
    kernel        INTEGER REFERENCES kernel,
    settings_json TEXT    NOT NULL CONSTRAINT "settings_json is JSON" CHECK (json_valid(settings_json)),
    applied_json  TEXT    NOT NULL CONSTRAINT "applied_json is JSON" CHECK (json_valid(applied_json)),
    UNIQUE (trial, position),
    UNIQUE (trial, name),
    UNIQUE (id, trial) -- for the foreign keys that say "a variant of this trial"
) STRICT;
CREATE INDEX variant_by_series ON variant (series);
CREATE INDEX variant_by_kernel ON variant (kernel);

CREATE TABLE boot (
    id                INTEGER PRIMARY KEY,
    trial             INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    variant           INTEGER NOT NULL,
    round             INTEGER NOT NULL CHECK (round >= 0),
    position          INTEGER NOT NULL CHECK (position >= 0),
    attempt           INTEGER NOT NULL CHECK (attempt >= 0),
    seed              INTEGER NOT NULL, -- u64 in two's complement
    perturbation_json TEXT    NOT NULL CONSTRAINT "perturbation_json is JSON"
                                       CHECK (json_valid(perturbation_json)),
    outcome           TEXT    NOT NULL CONSTRAINT "a boot has an outcome" CHECK (outcome <> ''),
    detail            TEXT,
    started_at        INTEGER NOT NULL,
    ended_at          INTEGER NOT NULL,
    guest_boot_ns     INTEGER CHECK (guest_boot_ns >= 0),
    FOREIGN KEY (variant, trial) REFERENCES variant (id, trial) ON DELETE CASCADE,
    UNIQUE (trial, variant, round, attempt)
) STRICT;
CREATE INDEX boot_by_variant ON boot (variant, trial);
-- However often it is tried, a variant counts once in a round.
CREATE UNIQUE INDEX boot_counted ON boot (trial, variant, round) WHERE outcome = 'ok';

CREATE TABLE cell (
    id         INTEGER PRIMARY KEY,
    workload   TEXT    NOT NULL CONSTRAINT "a cell has a workload" CHECK (workload <> ''),
    parameters TEXT    NOT NULL, -- "fds=500000 threads=1", sorted by name
    metric     TEXT    NOT NULL CONSTRAINT "a cell has a metric" CHECK (metric <> ''),
    unit       TEXT    NOT NULL,
    better     TEXT    NOT NULL CONSTRAINT "better is higher or lower"
                                CHECK (better IN ('higher', 'lower')),
    is_primary INTEGER NOT NULL CHECK (is_primary IN (0, 1)),
    UNIQUE (workload, parameters, metric, unit, better, is_primary)
) STRICT;

CREATE TABLE sample (
    boot      INTEGER NOT NULL REFERENCES boot ON DELETE CASCADE,
    cell      INTEGER NOT NULL REFERENCES cell,
    is_warmup INTEGER NOT NULL CHECK (is_warmup IN (0, 1)),
    iteration INTEGER NOT NULL CHECK (iteration >= 0),
    status    TEXT    NOT NULL CHECK (status IN ('ok', 'missing', 'unsupported', 'failed')),
    value     REAL    CONSTRAINT "a value is finite"
                      CHECK (value BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308),
    reason    TEXT,
    PRIMARY KEY (boot, cell, is_warmup, iteration),
    CONSTRAINT "a sample has a value when it is ok, and only then"
        CHECK ((status = 'ok') = (value IS NOT NULL)),
    CONSTRAINT "a sample says why when it is unsupported or failed, and only then"
        CHECK ((status IN ('unsupported', 'failed')) = (reason IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX sample_by_cell ON sample (cell);

CREATE TABLE artifact (
    id        INTEGER PRIMARY KEY,
    boot      INTEGER NOT NULL REFERENCES boot ON DELETE CASCADE,
    kind      TEXT    NOT NULL CONSTRAINT "an artifact has a kind" CHECK (kind <> ''),
    raw_bytes INTEGER NOT NULL CHECK (raw_bytes >= 0), -- before cutting and compressing
    is_cut    INTEGER NOT NULL CHECK (is_cut IN (0, 1)),
    content   BLOB    NOT NULL, -- gzip
    UNIQUE (boot, kind)
) STRICT;

-- A checksum over a boot and its samples: SQLite finds damage to its structure, and
-- this finds a flipped bit in a figure.
CREATE TABLE seal (
    boot  INTEGER PRIMARY KEY REFERENCES boot ON DELETE CASCADE,
    crc32 INTEGER NOT NULL
) STRICT;

-- What was measured is never overwritten. Verdicts can be: they are computed from it.
CREATE TRIGGER sample_is_final BEFORE UPDATE ON sample
BEGIN SELECT RAISE(ABORT, 'a sample is never overwritten'); END;
CREATE TRIGGER boot_is_final BEFORE UPDATE ON boot
BEGIN SELECT RAISE(ABORT, 'a boot is never overwritten'); END;
CREATE TRIGGER artifact_is_final BEFORE UPDATE ON artifact
BEGIN SELECT RAISE(ABORT, 'an artifact is never overwritten'); END;

CREATE TABLE verdict (
    trial         INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,
    variant       INTEGER NOT NULL,
    baseline      INTEGER NOT NULL,
    cell          INTEGER NOT NULL REFERENCES cell,
    verdict       TEXT    NOT NULL
        CONSTRAINT "a verdict is improved, regressed, unchanged, inconclusive, unsupported or failed"
        CHECK (verdict IN ('improved', 'regressed', 'unchanged', 'inconclusive', 'unsupported',
                           'failed')),
    ratio         REAL,
    low           REAL,
    high          REAL,
    level         REAL    NOT NULL CONSTRAINT "a level lies between 0 and 1"
                                   CHECK (level > 0 AND level < 1),
    p_value       REAL    CONSTRAINT "a p value lies between 0 and 1"
                          CHECK (p_value BETWEEN 0 AND 1),
    p_adjusted    REAL    CONSTRAINT "an adjusted p value lies between 0 and 1"
                          CHECK (p_adjusted BETWEEN 0 AND 1),
    boots_base    INTEGER NOT NULL CHECK (boots_base >= 0),
    boots_variant INTEGER NOT NULL CHECK (boots_variant >= 0),
    base_value    REAL,
    variant_value REAL,
    margin        REAL    NOT NULL CONSTRAINT "a margin is a ratio between 0 and 1"
                                   CHECK (margin > 0 AND margin < 1),
    rounds_needed INTEGER CHECK (rounds_needed >= 0),
    method        TEXT    NOT NULL,
    reason        TEXT,
    computed_at   INTEGER NOT NULL,
    PRIMARY KEY (trial, variant, baseline, cell),
    FOREIGN KEY (variant, trial) REFERENCES variant (id, trial) ON DELETE CASCADE,
    FOREIGN KEY (baseline, trial) REFERENCES variant (id, trial) ON DELETE CASCADE,
    CONSTRAINT "a variant is not its own baseline" CHECK (variant <> baseline),
    CONSTRAINT "an interval begins below its end" CHECK (low <= high)
) STRICT, WITHOUT ROWID;
CREATE INDEX verdict_by_variant ON verdict (variant, trial);
CREATE INDEX verdict_by_baseline ON verdict (baseline, trial);
CREATE INDEX verdict_by_cell ON verdict (cell);
