-- +goose Up
-- Names this database, so that replicas notice if they have two. A copy has the same name.
CREATE TABLE identity (id TEXT NOT NULL);
INSERT INTO identity (id) VALUES (lower(hex(randomblob(16))));
