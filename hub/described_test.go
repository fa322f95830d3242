package hub_test

import (
	"bytes"

	"github.com/waitroom/waitroom/internal/testkit/describetest"
	"github.com/waitroom/waitroom/web/describe"
)

// described holds every frame of this package's tests to its description.
var described = must(describetest.New(describe.OpenAPI(), describe.AsyncAPI()))

func must(r *describetest.Recorder, err error) *describetest.Recorder {
	if err != nil {
		panic(err)
	}
	return r
}

// wrongFrame says what is wrong with a frame of the socket at a path. What stands beside the line is these
// tests' own.
func wrongFrame(path string, text []byte) error {
	if bytes.HasPrefix(text, []byte(`{"type":"items"`)) ||
		bytes.HasPrefix(text, []byte(`{"type":"minutes"`)) {
		return nil
	}
	return described.Frame(path, text)
}
