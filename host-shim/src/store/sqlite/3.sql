-- Version 3.
--
-- Which prompt was shown where, and what its controls stand for. `delivery` is the record, and the truth for all that has
-- no column of its own. Deliveries go with their prompt, in whatever way that goes.
CREATE TABLE deliveries (
    number   INTEGER PRIMARY KEY,
    tenant   TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    prompt   TEXT    NOT NULL,
    channel  TEXT    NOT NULL,
    address  TEXT    NOT NULL,
    -- 0 sending, 1 shown, 2 updating, 3 done, 4 failed
    state    INTEGER NOT NULL,
    -- The service's names of its messages, as JSON.
    messages TEXT    NOT NULL,
    delivery TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX deliveries_id ON deliveries (tenant, id);
CREATE INDEX deliveries_of ON deliveries (tenant, prompt);
CREATE INDEX deliveries_at ON deliveries (tenant, channel, address, number);
CREATE INDEX deliveries_open ON deliveries (tenant, number) WHERE state IN (1, 2);

CREATE TABLE delivery_tokens (
    tenant   TEXT    NOT NULL,
    channel  TEXT    NOT NULL,
    token    TEXT    NOT NULL,
    delivery INTEGER NOT NULL,
    PRIMARY KEY (tenant, channel, token, delivery)
) STRICT, WITHOUT ROWID;

CREATE INDEX delivery_tokens_of ON delivery_tokens (delivery);

CREATE TRIGGER deliveries_go_with_their_prompt AFTER DELETE ON prompts BEGIN
    DELETE FROM delivery_tokens
    WHERE delivery IN (SELECT number FROM deliveries WHERE tenant = old.tenant AND prompt = old.id);
    DELETE FROM deliveries WHERE tenant = old.tenant AND prompt = old.id;
END;
