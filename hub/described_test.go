package hub_test

import (
	"bytes"

	"github.com/waitroom/waitroom/internal/testkit/describetest"
	"github.com/waitroom/waitroom/web/describe"
)

// described checks every frame of this package's tests against the API's description.
var described = must(describetest.New(describe.OpenAPI(), describe.AsyncAPI()))

func must(r *describetest.Recorder, err error) *describetest.Recorder {
	if err != nil {
		panic(err)
	}
	return r
}

// wrongFrame returns what is wrong with a frame of the socket at a path. It ignores the panels beside the
// line, whose content these tests make up.
func wrongFrame(path string, text []byte) error {
	if bytes.HasPrefix(text, []byte(`{"type":"items"`)) ||
		bytes.HasPrefix(text, []byte(`{"type":"minutes"`)) {
		return nil
	}
	return described.Frame(path, text)
}
