package web

import (
	"encoding/json"
	"errors"

	"github.com/gin-gonic/gin"

	"github.com/waitroom/waitroom/web/problem"
	"github.com/waitroom/waitroom/web/request"
)

// lockBody is the body of a request about the lock. Other fields are ignored.
type lockBody struct {
	Seller  string `json:"seller_id"`
	Session string `json:"session_id"`
	Asks    bool   `json:"asks"`
}

// readLock reads the body of a join.
func readLock(c *gin.Context) (lockBody, error) {
	text, err := readJSON(c)
	if err != nil {
		return lockBody{}, err
	}
	return parseBody[lockBody](text, nil)
}

// readOptionalLock reads the optional body of a DELETE.
func readOptionalLock(c *gin.Context) (lockBody, error) {
	text, err := request.Body(c)
	if err != nil || len(text) == 0 {
		return lockBody{}, err
	}
	if !request.IsJSON(c) {
		return lockBody{}, problem.Refusal("unsupported_media_type")
	}
	return parseBody[lockBody](text, nil)
}

// readJSON returns the body of a request that is declared to be JSON.
func readJSON(c *gin.Context) ([]byte, error) {
	if !request.IsJSON(c) {
		return nil, problem.Refusal("unsupported_media_type")
	}
	return request.Body(c)
}

// codesOfBody are the error codes of fields that have a value of the wrong type.
var codesOfBody = map[string]problem.Refusal{"seller_id": "invalid_seller", "session_id": "invalid_session",
	"fence": "invalid_fence"}

// parseBody accepts exactly one JSON object. A field of the wrong type has its own error code, or else the
// error other, if it is not nil. All else is invalid_json.
func parseBody[T any](text []byte, other error) (body T, err error) {
	read, err := request.Decode[T](text)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if code, ok := codesOfBody[wrong.Field]; ok {
			return body, code
		}
		if other != nil && wrong.Field != "" {
			return body, other
		}
	}
	if err != nil || read == nil {
		return body, problem.Refusal("invalid_json")
	}
	return *read, nil
}
