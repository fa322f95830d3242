package describetest

import (
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// channel is the place of frames or webhooks.
type channel struct {
	name     string
	address  []string // nil where the server does not choose it
	messages map[string]message
}

// message is one type of frame or webhook.
type message struct {
	name             string
	payload, headers *jsonschema.Schema // headers is nil where there are none
}

// readAsyncAPI reads the messages that the server sends. Schemas of AsyncAPI are those of draft 7.
func readAsyncAPI(text []byte) ([]channel, error) {
	d, err := readDocument("asyncapi.yaml", text, jsonschema.Draft7)
	if err != nil {
		return nil, err
	}
	type waiting struct{ name, kind, payload, headers string }
	later := make([][]waiting, 0, 4)
	var channels []channel
	for _, op := range at(d.root, "operations") {
		if at(op)["action"] != "send" {
			continue
		}
		ref, _ := at(op, "channel")["$ref"].(string)
		described, err := d.resolve(at(op, "channel"))
		if err != nil {
			return nil, err
		}
		c := channel{name: strings.TrimPrefix(ref, "#/channels/"), messages: map[string]message{}}
		if address, ok := described["address"].(string); ok {
			c.address = strings.Split(address, "/")
		}
		var waits []waiting
		list, _ := at(op)["messages"].([]any)
		for _, one := range list {
			m, err := d.resolve(one)
			if err != nil {
				return nil, err
			}
			payload, err := d.resolve(m["payload"])
			if err != nil {
				return nil, err
			}
			kind, ok := at(payload, "properties", "type")["const"].(string)
			if !ok {
				return nil, fmt.Errorf("a message of channel %s does not name its type", c.name)
			}
			w := waiting{name: c.name + " " + kind, kind: kind, payload: d.schema(m["payload"])}
			if m["headers"] != nil {
				w.headers = d.schema(m["headers"])
			}
			waits = append(waits, w)
		}
		channels, later = append(channels, c), append(later, waits)
	}
	compiled, err := d.compile()
	for i, waits := range later {
		for _, w := range waits {
			channels[i].messages[w.kind] = message{w.name, compiled[w.payload], compiled[w.headers]}
		}
	}
	return channels, err
}
