package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sys/unix"

	"github.com/bourse-exchange/bourse"
)

// ErrNotRunning is the error for a data directory without a running exchange.
var ErrNotRunning = errors.New("no exchange is running there")

// Call sends a verb to the exchange on a data directory and returns its answer. A refusal
// is an *bourse.Error.
func Call(ctx context.Context, data, verb string, args any) (jsontext.Value, error) {
	body, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}

	client := http.Client{Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, data) },
		DisableKeepAlives: true,
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://admin/"+verb, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}

	response, err := client.Do(request)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ECONNREFUSED):
		return nil, fmt.Errorf("%w: %w", ErrNotRunning, err)
	case err != nil:
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}

	if response.StatusCode == http.StatusOK {
		return answer, nil
	}

	var f failure
	if err := json.Unmarshal(answer, &f); err != nil {
		return nil, fmt.Errorf("%s: %s", response.Status, answer)
	}
	return nil, bourse.Errorf(bourse.CodeRefused, "%s", f.Error)
}
