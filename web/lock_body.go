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
	if !request.IsJSON(c) {
		return lockBody{}, problem.Refusal("unsupported_media_type")
	}
	body, err := request.Body(c)
	if err != nil {
		return lockBody{}, err
	}
	return parseLock(body)
}

// readOptionalLock reads the optional body of a DELETE.
func readOptionalLock(c *gin.Context) (lockBody, error) {
	body, err := request.Body(c)
	if err != nil || len(body) == 0 {
		return lockBody{}, err
	}
	if !request.IsJSON(c) {
		return lockBody{}, problem.Refusal("unsupported_media_type")
	}
	return parseLock(body)
}

// parseLock accepts exactly one JSON object. A field that is not a string has its own error code.
func parseLock(text []byte) (lockBody, error) {
	body, err := request.Decode[lockBody](text)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		switch wrong.Field {
		case "seller_id":
			return lockBody{}, problem.Refusal("invalid_seller")
		case "session_id":
			return lockBody{}, problem.Refusal("invalid_session")
		}
	}
	if err != nil || body == nil {
		return lockBody{}, problem.Refusal("invalid_json")
	}
	return *body, nil
}
