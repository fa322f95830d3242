package pseudonym

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSellerIsRenamedWhereItStandsAsAWord(t *testing.T) {
	for _, c := range []struct{ seller, text, want string }{
		{"s-1", "s-1", "X"},
		{"s-1", "s-1 and s-12, s-1-b, as-1, s-1.2, s-1s: s-1.", "X and s-12, s-1-b, as-1, s-1.2, s-1s: X."},
		{"s-1", "s-1님이 (s-1) 's-1'; s-1, s-1이", "X님이 (X) 'X'; X, X이"},
		{"가게1", "가게1은 가게12", "X은 가게12"},
		{"김철수", "김철수가 이김철수는", "X가 이김철수는"},
		{"kim_1", "kim_1 kim%1 xkim_1", "X kim%1 xkim_1"},
		{"a.b@c", "mail a.b@c.", "mail X."},
		{"é", "e\u0301 é ée", "X X ée"},
		{"s-1", "-s-1- s-1-", "-X- X-"},
	} {
		require.Equal(t, c.want, New(c.seller, "X").Text(c.text), "%s in %s", c.seller, c.text)
	}
}

func TestSellerIsRenamedInJSONOnlyWhereItIsASellerOrWritten(t *testing.T) {
	for _, c := range []struct{ seller, text, want string }{
		{"1", `{"ticket":1,"seller":"1","who":"1","at":1763689000000123}`,
			`{"at":1763689000000123,"seller":"X","ticket":1,"who":"1"}`},
		{"joined", `{"type":"joined","seller":"joined"}`, `{"seller":"X","type":"joined"}`},
		{"s-1", `{"data":{"seller_id":"s-1","detail":"<s-1> & s-2"}}`,
			`{"data":{"detail":"<X> & s-2","seller_id":"X"}}`},
		{"s-1", `[{"kept":[{"seller":"s-1"}]},{"reason":"asked by s-1"}]`,
			`[{"kept":[{"seller":"X"}]},{"reason":"asked by X"}]`},
		{"s-1", `{"b": "s-1",  "a": 1}`, `{"b": "s-1",  "a": 1}`},
		{"s-1", `not JSON of s-1`, `not JSON of X`},
	} {
		require.Equal(t, c.want, New(c.seller, "X").JSON(c.text), "%s in %s", c.seller, c.text)
	}
}
