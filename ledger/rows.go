package ledger

import (
	"encoding/json"
	"fmt"

	"github.com/waitroom/waitroom/outbox"
)

// rows reads a JSON parameter as rows, each an array "value": a statement takes as many as there are.
func (w *work) rows(param string) string {
	if w.dialect == outbox.Postgres {
		return `jsonb_array_elements(CAST(` + param + ` AS jsonb)) AS v(value)`
	}
	return `json_each(` + param + `) AS v`
}

// writeRows runs a statement on the room, $1, and the rows, $2.
func (w *work) writeRows(query string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	list, err := encode(rows)
	if err == nil {
		_, err = w.exec(query, string(w.id), list)
	}
	return err
}

// encode makes the parameter of rows.
func encode(rows [][]any) (string, error) {
	list, err := json.Marshal(rows)
	if err != nil {
		return "", fmt.Errorf("encode rows: %w", err)
	}
	return string(list), nil
}

// among is the condition that a column has one of a list's values. It is one that PostgreSQL looks up in an index also where
// it knows nothing of the table yet.
func (w *work) among(column, param string) string {
	if w.dialect == outbox.Postgres {
		return column + ` = ANY(` + param + `)`
	}
	return column + ` IN (SELECT value FROM json_each(` + param + `))`
}

// list is a parameter of among.
func (w *work) list(values []int64) any {
	if w.dialect == outbox.Postgres {
		return values
	}
	text, err := json.Marshal(values)
	if err != nil { // integers always marshal
		return "[]"
	}
	return string(text)
}
