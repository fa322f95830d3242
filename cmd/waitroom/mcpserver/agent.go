// Package mcpserver gives an agent program the tools to take a seller's turn: a server of the Model Context
// Protocol.
//
// The tools return within Config.Patience, since agents bound a tool's time; the agent calls again to go on
// waiting. A seller counts as present only while a tool waits, so an agent that went away is passed over and
// holds up no other seller.
package mcpserver

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waitroom/waitroom/client"
)

// Config configures the tools. Client is required.
type Config struct {
	Client   *client.Client
	Room     string        // used where a tool's call names none; "" = each call names one
	Seller   string        // likewise
	Proven   bool          // the client sends a token, which names the seller
	Keep     Sessions      // keeps the sessions of places over a restart; nil = they are forgotten
	Patience time.Duration // the longest time of a tool's call; default 45 s
	Version  string
}

// Sessions keeps the session of each place, by a name. A session is a secret.
type Sessions interface {
	Load(place string) (session string, err error) // "" = none
	Store(place, session string) error             // "" removes it
}

const (
	defaultPatience = 45 * time.Second
	answerWithin    = 10 * time.Second // of a call that waits for no other seller and no message
	leaveWithin     = 5 * time.Second
)

const instructions = `Takes a seller's turn with a phone number that several sellers share. Only one seller at a time
may have the marketplace send a code to that number; the others wait in line. In this order:
1. join, then wait_for_turn again and again until status is "your_turn". You have about two minutes from
then on.
2. ask_for_code, before you press "send code" at the marketplace, each time. It says when you may press.
3. Press "send code", then receive_code until there is a code. Enter it at the marketplace.
4. done. Call leave instead to give up, at any time.
If the marketplace says that a code is wrong, call reject_code, then go on at 2.`

// Run serves the tools over a transport until ctx or the connection ends. Without Config.Keep it then leaves
// all lines and gives the locks back, as no later process could. Error: the connection's.
func Run(ctx context.Context, c Config, transport mcp.Transport) error {
	if c.Patience == 0 {
		c.Patience = defaultPatience
	}
	t := newTools(ctx, c)
	err := t.server().Run(ctx, transport)
	t.close()
	if ctx.Err() != nil || errors.Is(err, mcp.ErrConnectionClosed) {
		return nil
	}
	return err
}

// server returns the protocol's server with all tools.
func (t *tools) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "waitroom", Title: "waitroom", Version: t.cfg.Version},
		&mcp.ServerOptions{Instructions: instructions})
	add(t, s, "join", "Join the line for the number, or get the lock at once if it is free. Calling it again "+
		"keeps the place.", t.join)
	add(t, s, "wait_for_turn", "Wait until it is the seller's turn. Returns after at most 45 seconds: call it "+
		"again while status is \"waiting\", without a pause, else the turn passes to the next in line.", t.wait)
	add(t, s, "ask_for_code", "Call this right before each press of \"send code\" at the marketplace. When "+
		"status is \"press_now\", press; when it is \"number_busy\", call this again first. Optional: the "+
		"numbers that the code comes from, which makes a mix-up with another text less likely.", t.ask)
	add(t, s, "receive_code", "Wait for the code that the marketplace sent, after ask_for_code. Returns after "+
		"at most 45 seconds: call it again while status is \"no_code_yet\".", t.receive)
	add(t, s, "reject_code", "Report that the last code was wrong or another seller's. Afterwards call "+
		"ask_for_code again, or receive_code if the turn is over: the right code may still come.", t.reject)
	add(t, s, "done", "End the turn after the code was accepted by the marketplace. The next in line gets the "+
		"number.", t.done)
	add(t, s, "leave", "Give the place or the turn up.", t.leave)
	return s
}

// add adds a tool to a server. Its calls end with the process: the server waits for them, and the agent
// program ends the process by force if it waits for too long.
func add[in any](t *tools, s *mcp.Server, name, about string,
	do func(context.Context, *mcp.CallToolRequest, in) (output, error)) {
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: about, InputSchema: schemaOf[in]()},
		func(ctx context.Context, r *mcp.CallToolRequest, arguments in) (*mcp.CallToolResult, output, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(t.ctx, cancel)()
			out, err := do(ctx, r, arguments)
			return nil, out, advise(err)
		})
}

// schemaOf returns the JSON schema of a tool's arguments. The SDK's own would give a list two types, array
// and null. Gemini knows one type a field, and refuses each request of an agent that has such a tool.
func schemaOf[in any]() *jsonschema.Schema {
	list := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}
	schema, err := jsonschema.For[in](&jsonschema.ForOptions{
		TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[[]string](): list}})
	if err != nil {
		panic(err) // of a type in this package
	}
	return schema
}
