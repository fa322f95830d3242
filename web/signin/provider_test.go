package signin

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oauth2-proxy/mockoidc"
	"github.com/stretchr/testify/require"

	"github.com/waitroom/waitroom/internal/testkit/redistest"
	"github.com/waitroom/waitroom/internal/testkit/testproc"
	"github.com/waitroom/waitroom/room"
)

func TestTokenThatIsNotRightIsRefused(t *testing.T) {
	c := openCounter(t)
	for name, wrong := range map[string]user{
		"another nonce":          {"nonce": "x"},
		"no nonce":               {"nonce": ""},
		"expired":                {"exp": time.Now().Add(-time.Minute).Unix()},
		"no expiry":              {"exp": nil},
		"another audience":       {"aud": "another"},
		"no audience":            {"aud": nil},
		"made for another party": {"aud": []string{c.at.ClientID, "another"}, "azp": "another"},
		"another issuer":         {"iss": "https://evil.example"},
		"not valid yet":          {"nbf": time.Now().Add(time.Hour).Unix()},
		"name of another kind":   {"preferred_username": []string{"kim"}},
		"nobody":                 {"sub": ""},
	} {
		t.Run(name, func(t *testing.T) {
			wrong["groups"] = "actors"
			_, err := c.enter(wrong)
			require.ErrorIs(t, err, ErrExpired)
			require.Equal(t, []string{"? sign_in_failed: the provider's token is not right, from 192.0.2.1"},
				c.written.take())
		})
	}
	for name, alter := range map[string]func(answer map[string]any){
		"changed on its way": func(answer map[string]any) {
			answer["id_token"] = forged(answer["id_token"].(string), "groups", "actors")
		},
		"not signed": func(answer map[string]any) {
			parts := strings.Split(forged(answer["id_token"].(string), "groups", "actors"), ".")
			answer["id_token"] = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + parts[1] + "."
		},
		"no token": func(answer map[string]any) { answer["id_token"] = "" },
	} {
		t.Run(name, func(t *testing.T) {
			c.at.alter = alter
			defer func() { c.at.alter = nil }()
			_, err := c.enter(user{"groups": "watchers"})
			require.ErrorIs(t, err, ErrExpired)
		})
	}
	require.NotContains(t, everything(t, c.rdb), "session:")
	_, err := c.enter(user{"groups": "actors"})
	require.NoError(t, err)
}

func TestGroupsAreAskedForWhereTheProviderKnowsThem(t *testing.T) {
	before := mockoidc.ScopesSupported
	defer func() { mockoidc.ScopesSupported = before }()
	at, rdb := startIssuer(t, "127.0.0.1:0"), redistest.Start(t).Client()
	for _, row := range []struct {
		offered []string
		asked   bool
	}{{[]string{"openid", "email", "profile"}, false}, {[]string{"openid", "groups"}, true}, {nil, true}} {
		mockoidc.ScopesSupported = row.offered
		d, _ := newDesk(Config{Redis: rdb, OIDC: at.oidc()})
		there, err := d.Begin(t.Context(), "", here)
		require.NoError(t, err)
		u, err := url.Parse(there.URL)
		require.NoError(t, err)
		require.Equal(t, row.asked, slices.Contains(strings.Fields(u.Query().Get("scope")), "groups"))
	}
}

func TestProviderMayComeAfterUsAndGoAway(t *testing.T) {
	addr := fmt.Sprintf("127.0.0.1:%d", testproc.FreePort(t))
	cfg := settingsOf("http://" + addr + mockoidc.IssuerBase)
	rdb := redistest.Start(t).Client()
	d, written := newDesk(Config{Redis: rdb, OIDC: cfg})
	_, err := d.Begin(t.Context(), "", here)
	require.ErrorIs(t, err, ErrAway)
	require.Contains(t, written.log.String(), addr)
	require.NotErrorIs(t, err, room.ErrStore)

	at := startIssuer(t, addr)
	c := &counter{d, t, at, rdb, written}
	_, err = c.enter(user{"groups": "actors"})
	require.NoError(t, err)
	cookie, state, code := c.begin(user{"groups": "actors"})
	require.NoError(t, at.Shutdown())
	require.ErrorIs(t, c.finish(cookie, state, code), ErrAway)
}

func TestProviderThatAnswersWronglyIsAway(t *testing.T) {
	c := openCounter(t)
	for name, alter := range map[string]func(answer map[string]any){
		"no id_token":     func(answer map[string]any) { delete(answer, "id_token") },
		"no access_token": func(answer map[string]any) { delete(answer, "access_token") },
		"an error":        func(answer map[string]any) { answer["error"] = "invalid_client" },
	} {
		t.Run(name, func(t *testing.T) {
			c.at.alter = alter
			_, err := c.enter(user{"groups": "actors"})
			require.ErrorIs(t, err, ErrAway)
		})
	}
	c.at.alter = nil
	bad := c.at.oidc()
	bad.ClientSecret = "another"
	c.Desk, c.written = newDesk(Config{Redis: c.rdb, OIDC: bad})
	_, err := c.enter(user{"groups": "actors"})
	require.ErrorIs(t, err, ErrAway)
	require.Contains(t, c.written.log.String(), "invalid_client", "the operator can see why")
	bad.Issuer += "/"
	c.Desk, c.written = newDesk(Config{Redis: c.rdb, OIDC: bad})
	_, err = c.Begin(t.Context(), "", here)
	require.ErrorIs(t, err, ErrAway)
}

func TestNoTokenOfTheProvidersIsStoredOrLogged(t *testing.T) {
	c := openCounter(t)
	_, err := c.enter(user{"groups": "actors"})
	require.NoError(t, err)
	_, err = c.enter(user{"groups": "actors", "nonce": "x"})
	require.ErrorIs(t, err, ErrExpired)
	c.at.alter = func(answer map[string]any) { delete(answer, "access_token") }
	_, err = c.enter(user{"groups": "actors"})
	require.ErrorIs(t, err, ErrAway)
	c.at.alter = func(answer map[string]any) { answer["error"] = "invalid_client" }
	_, err = c.enter(user{"groups": "actors"})
	require.ErrorIs(t, err, ErrAway)
	kept := everything(t, c.rdb) + c.written.log.String() + strings.Join(c.written.take(), "\n")
	require.GreaterOrEqual(t, len(c.at.tokens), 5)
	for _, secret := range append(c.at.tokens, c.at.ClientSecret) {
		require.NotContains(t, kept, secret)
	}
}

// Authelia's tokens have neither name nor groups; they are in its userinfo.
func TestClaimsThatTheTokenLacksAreAskedForAsUserinfo(t *testing.T) {
	c := openCounter(t)
	who, err := c.enter(user{"userinfo": user{"preferred_username": "kim", "groups": []string{"actors"}}})
	require.NoError(t, err)
	require.Equal(t, "kim", who.Name)
	require.Equal(t, Act, who.Role)
	require.Equal(t, []string{"kim signed_in: by OpenID Connect as subject subject-1, from 192.0.2.1"},
		c.written.take())

	who, err = c.enter(user{"groups": "watchers", "userinfo": user{"groups": "actors"}})
	require.NoError(t, err)
	require.Equal(t, Watch, who.Role, "the token's groups are the groups")
	_, err = c.enter(user{"groups": []string{}, "userinfo": user{"groups": "actors"}})
	require.ErrorIs(t, err, ErrNotAdmitted, "also where there are none")

	c.written.take()
	_, err = c.enter(user{"preferred_username": "kim", "userinfo": user{"groups": "actors", "sub": "subject-2"}})
	require.ErrorIs(t, err, ErrAway)
	require.Contains(t, c.written.log.String(), "another subject")
	require.Empty(t, c.written.take())
}

func TestProviderThatSendsNoGroupsIsNamedForTheOperator(t *testing.T) {
	c := openCounter(t)
	for _, groups := range []user{{}, {"groups": nil}, {"userinfo": user{"groups": nil}}} {
		groups["preferred_username"] = "kim"
		_, err := c.enter(groups)
		require.ErrorIs(t, err, ErrNotAdmitted)
		require.Equal(t, []string{"kim sign_in_refused: the provider sent no groups of subject subject-1, from " +
			"192.0.2.1"}, c.written.take())
	}
	require.Contains(t, c.written.log.String(), "Let it send the claim groups")
}

func TestUserinfoThatFailsIsAProviderThatIsAway(t *testing.T) {
	c := openCounter(t)
	c.at.broken = true
	_, err := c.enter(user{"preferred_username": "kim"})
	require.ErrorIs(t, err, ErrAway)
	require.Contains(t, c.written.log.String(), "403 Forbidden")
	require.NotContains(t, c.written.log.String(), "in the body")
}

// Entra sends the groups of a person in more than 200 by an address that needs rights of its own.
func TestGroupsThatTheTokenHasNoRoomForAreNamed(t *testing.T) {
	c := openCounter(t)
	overage := user{"preferred_username": "kim", "_claim_names": user{"groups": "src1"}, "_claim_sources": user{
		"src1": user{"endpoint": "https://graph.example/users/1/getMemberObjects"}},
		"userinfo": user{"groups": "actors"}}
	_, err := c.enter(overage)
	require.ErrorIs(t, err, ErrTooManyGroups)
	require.NotErrorIs(t, err, ErrNotAdmitted)
	require.Equal(t, []string{"kim sign_in_refused: subject subject-1 is in too many groups for the provider's " +
		"token, from 192.0.2.1"}, c.written.take())
	require.Contains(t, c.written.log.String(), "only the groups that are assigned to waitroom")

	overage["groups"] = "actors" // of other claims than the groups
	who, err := c.enter(overage)
	require.NoError(t, err)
	require.Equal(t, Act, who.Role)
}

func TestErrorOfTheProvidersIsNamed(t *testing.T) {
	c := openCounter(t)
	finish := func(back Back) error {
		there, err := c.Begin(t.Context(), "", here)
		require.NoError(t, err)
		back.Cookie = there.Cookie
		if back.State == "" {
			back.State = there.State
		}
		_, _, _, err = c.Finish(t.Context(), back, here)
		return err
	}
	for name, row := range map[string]struct {
		refusal error
		shown   string
	}{
		"access_denied":           {ErrDenied, "access_denied"},
		"invalid_scope":           {ErrDenied, "invalid_scope"},
		"temporarily_unavailable": {ErrAway, "temporarily_unavailable"},
		"server_error":            {ErrAway, "server_error"},
		"<b>call 080-1234":        {ErrDenied, "unknown"},
	} {
		require.ErrorIs(t, finish(Back{Error: name, ErrorText: "AADSTS50105:\nnot assigned"}), row.refusal, name)
		require.Equal(t, []string{"? sign_in_failed: the provider sent the error " + row.shown +
			", from 192.0.2.1"}, c.written.take())
		require.Contains(t, c.written.log.String(), row.shown)
	}
	require.Contains(t, c.written.log.String(), "AADSTS50105:not assigned")

	require.ErrorIs(t, finish(Back{Error: "access_denied", State: "x"}), ErrExpired,
		"any site can lead a browser here")
	require.Empty(t, c.written.take())
}
