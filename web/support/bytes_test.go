package support_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/ledger/history"
	"github.com/waitroom/waitroom/web/support"
)

// Programs and spreadsheets read these files, so a byte that changes is a change of the contract.
func TestAnswersOfHistoryAndAuditAreTheSameToTheByte(t *testing.T) {
	for file, path := range map[string]string{
		"history.json":      historyPath,
		"history.csv":       historyPath + "?format=csv",
		"history.sheet.csv": historyPath + "?format=csv&bom=1&lang=ko&zone=Asia/Seoul",
		"audit.json":        auditAPI,
		"audit.file.json":   auditAPI + "?download=1",
		"audit.csv":         auditAPI + "?format=csv&lang=en",
		"audit.sheet.csv":   auditAPI + "?format=csv&bom=1&lang=ko&zone=Asia/Seoul",
	} {
		t.Run(file, func(t *testing.T) {
			f, said := newFakeDesk(), history.Action{Epoch: 1, Who: "kim", Name: "announce", Reason: "r",
				At: 8000, Text: "=1+1", Until: 9000}
			page, audit := somePage(""), someAudit("")
			page.Actions = append(page.Actions, said)
			audit.Actions = append(audit.Actions, history.Audited{Room: "integration", Action: said})
			f.pages, f.audits = []history.Page{page}, []support.Audit{audit}
			w := f.call(t, deskHandler(t, f), "park", "GET", path, "")
			want, err := os.ReadFile(filepath.Join("testdata", file))
			require.NoError(t, err)
			require.Equal(t, string(want), w.Body.String())
		})
	}
}
