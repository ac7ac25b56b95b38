package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// exchange is a sandbox in its own process.
type exchange struct {
	program, dir string
	cmd          *exec.Cmd
	url          string
	// last is its last log message, logged is closed when its log has ended.
	last   string
	logged chan struct{}
}

func (x *exchange) data() string { return filepath.Join(x.dir, "data") }

// start runs the process until it serves.
func (x *exchange) start(ctx context.Context) error {
	x.cmd = exec.CommandContext(ctx, x.program, "dev", //nolint:gosec // it is this program
		"--data", x.data(), "--listen", "127.0.0.1:0", "--bots=false", "--block-time=0", "--log-format=json",
		"--segment-size=1MiB", "--snapshot-every=5000")
	x.cmd.Env = ownEnvironment()
	stderr, err := x.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := x.cmd.Start(); err != nil {
		return err
	}

	x.logged = make(chan struct{})
	serving := make(chan string, 1)
	go func() {
		defer close(x.logged)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			var line struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &line) != nil {
				continue // the greeting
			}
			x.last = line.Msg
			if line.Msg == "serving" {
				serving <- line.Address
			}
		}
	}()

	select {
	case address := <-serving:
		x.url = "http://" + address
		return nil
	case <-x.logged:
		return fmt.Errorf("the exchange did not start: %w, after %q", x.cmd.Wait(), x.last)
	}
}

// ownEnvironment returns the environment without an exchange's settings.
func ownEnvironment() (list []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "BOURSE_") {
			list = append(list, v)
		}
	}
	return list
}

// kill ends the process like a power cut: without a chance to do anything.
func (x *exchange) kill() error {
	err := x.cmd.Process.Kill()
	<-x.logged
	_ = x.cmd.Wait() // it reports the kill
	return err
}

// stop stops the process in order.
func (x *exchange) stop() error {
	if err := x.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-x.logged
	return x.cmd.Wait()
}
