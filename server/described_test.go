package server

import (
	"github.com/waitroom/waitroom/internal/describetest"
	"github.com/waitroom/waitroom/web/describe"
)

// described holds every answer and every frame of this package's tests to the descriptions.
var described = must(describetest.New(describe.OpenAPI(), describe.AsyncAPI()))

// excused is what no test of this package sees, and why.
var excused = map[string]string{}

func must(r *describetest.Recorder, err error) *describetest.Recorder {
	if err != nil {
		panic(err)
	}
	return r
}
