package ledger

import (
	"encoding/json"
	"fmt"

	"github.com/waitroom/waitroom/outbox"
)

// rows reads the parameter $2 as rows, each an array "value": a statement takes as many as there are.
func (w *work) rows() string {
	if w.dialect == outbox.Postgres {
		return `jsonb_array_elements(CAST($2 AS jsonb)) AS v(value)`
	}
	return `json_each($2) AS v`
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

// eachRow is writeRows for a statement that answers with rows.
func (w *work) eachRow(read func(scan func(...any) error) error, query string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	list, err := encode(rows)
	if err == nil {
		err = w.each(read, query, string(w.id), list)
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

// matching joins rows q with those of a table, t, that meet the condition: one look into an index for each q. PostgreSQL
// would rather read the whole room where it does not know yet how much that is; OFFSET 0 keeps it from that.
func (w *work) matching(table, condition string) string {
	if w.dialect == outbox.Postgres {
		return ` CROSS JOIN LATERAL (SELECT * FROM ` + table + ` t WHERE ` + condition + ` OFFSET 0) t`
	}
	return ` CROSS JOIN ` + table + ` t WHERE ` + condition
}
