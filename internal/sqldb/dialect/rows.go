package dialect

import (
	"encoding/json"
	"fmt"
)

// Rows reads a parameter made by EncodeRows, such as $2, as the table v of rows, each an array "value": a statement takes as many rows as there are.
func (d Dialect) Rows(parameter string) string {
	if d == Postgres {
		return `jsonb_array_elements(CAST(` + parameter + ` AS jsonb)) AS v(value)`
	}
	return `json_each(` + parameter + `) AS v`
}

// EncodeRows makes the parameter that Rows reads.
func EncodeRows(rows [][]any) (string, error) {
	list, err := json.Marshal(rows)
	if err != nil {
		return "", fmt.Errorf("encode rows: %w", err)
	}
	return string(list), nil
}

// Matching joins rows q with those of a table, t, that meet the condition: one look into an index for each q. PostgreSQL
// would rather read the whole table where it does not know yet how much that is; OFFSET 0 keeps it from that.
func (d Dialect) Matching(table, condition string) string {
	if d == Postgres {
		return ` CROSS JOIN LATERAL (SELECT * FROM ` + table + ` t WHERE ` + condition + ` OFFSET 0) t`
	}
	return ` CROSS JOIN ` + table + ` t WHERE ` + condition
}
