package web

import (
	"github.com/waitroom/waitroom/internal/describetest"
	"github.com/waitroom/waitroom/web/describe"
)

// described holds every answer of this package's tests to the descriptions.
var described = must(describetest.New(describe.OpenAPI(), describe.AsyncAPI()))

func must(r *describetest.Recorder, err error) *describetest.Recorder {
	if err != nil {
		panic(err)
	}
	return r
}
