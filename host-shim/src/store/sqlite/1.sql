-- Version 1.
--
-- Rows are numbered in the order in which they come in, so that new ones lie side by side; the public id is a second
-- key. `prompt` and `settlement` are the records of the contract as JSON, and the truth; the other columns are copies
-- to find them by. Moments are milliseconds since the Unix epoch.

CREATE TABLE prompts (
    number     INTEGER PRIMARY KEY,
    tenant     TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    by_tool    INTEGER NOT NULL,
    session    TEXT,
    run        TEXT,
    tool_call  TEXT,
    requester  TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    settled_at INTEGER,
    prompt     TEXT    NOT NULL,
    settlement TEXT,
    -- What senders have answered so far, by sender. Only while the prompt is pending.
    drafts     TEXT
) STRICT;

CREATE UNIQUE INDEX prompts_id ON prompts (tenant, id);

-- Ruling 11: one pending prompt a session, one prompt a tool call.
CREATE UNIQUE INDEX prompts_pending_tool ON prompts (tenant, session) WHERE by_tool = 1 AND settled_at IS NULL;
CREATE UNIQUE INDEX prompts_tool_call ON prompts (tenant, session, run, tool_call)
    WHERE by_tool = 1 AND tool_call IS NOT NULL;

-- The lists. Pending and settled prompts have one each, so that neither is slower for what the other holds.
CREATE INDEX pending ON prompts (tenant, created_at, id) WHERE settled_at IS NULL;
CREATE INDEX settled ON prompts (tenant, created_at, id) WHERE settled_at IS NOT NULL;
CREATE INDEX pending_of_session ON prompts (tenant, session, created_at, id)
    WHERE settled_at IS NULL AND session IS NOT NULL;
CREATE INDEX settled_of_session ON prompts (tenant, session, created_at, id)
    WHERE settled_at IS NOT NULL AND session IS NOT NULL;
CREATE INDEX pending_of_requester ON prompts (tenant, requester, created_at, id)
    WHERE settled_at IS NULL AND requester IS NOT NULL;
CREATE INDEX settled_of_requester ON prompts (tenant, requester, created_at, id)
    WHERE settled_at IS NOT NULL AND requester IS NOT NULL;
-- A run asks little, so its prompts share one list: no write when they end.
CREATE INDEX all_of_run ON prompts (tenant, run, created_at, id) WHERE run IS NOT NULL;

-- The host's own loop, over all tenants: what expires next, what ended first.
CREATE INDEX pending_deadlines ON prompts (expires_at) WHERE settled_at IS NULL;
CREATE INDEX settled_ends ON prompts (settled_at) WHERE settled_at IS NOT NULL;

-- What stays with a session of prompts that were purged (ruling 24). While a prompt is kept, its summary is made from it.
CREATE TABLE summaries (
    number     INTEGER PRIMARY KEY,
    tenant     TEXT    NOT NULL,
    session    TEXT    NOT NULL,
    prompt     TEXT    NOT NULL,
    settled_at INTEGER NOT NULL,
    summary    TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX summaries_prompt ON summaries (tenant, prompt);
CREATE INDEX summaries_of_session ON summaries (tenant, session, settled_at, prompt);
