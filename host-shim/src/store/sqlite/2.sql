-- Version 2.
--
-- Prompts that no version could read, such as after a fault of the disk. They are taken out of `prompts`, so that they
-- stand in nobody's way, and nothing of them is lost. Nothing reads this table but people.
CREATE TABLE set_aside (
    number     INTEGER PRIMARY KEY,
    tenant     TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    session    TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    settled_at INTEGER,
    prompt     TEXT    NOT NULL,
    settlement TEXT
) STRICT;
