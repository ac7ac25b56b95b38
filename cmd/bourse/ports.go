package main

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

// The ports of nodes whose operator names none: below those that systems give to outgoing connections (32768 and above on
// Linux). One of those may be taken when a node that ended comes back.
const (
	firstPort = 10_000
	lastPort  = 32_767
	portTries = 1_000
)

// anyPort stands for a free port.
const anyPort = "0"

// listenAt listens at a port; at a free one that no outgoing connection takes once the listener is closed, for anyPort.
func listenAt(host, port string) (l net.Listener, err error) {
	at := port
	for range portTries {
		if port == anyPort {
			at = strconv.Itoa(firstPort + rand.IntN(lastPort-firstPort+1)) //nolint:gosec // any port will do
		}
		l, err = net.Listen("tcp", net.JoinHostPort(host, at)) //nolint:noctx // it waits for nothing
		if port != anyPort || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	return l, err
}

// portOf returns the address of a node, by its number, of addresses with the ports from a first one on; empty and port 0 stay.
func portOf(first string, node uint64) (string, error) {
	host, text, err := net.SplitHostPort(first)
	if first == "" || err == nil && text == anyPort {
		return first, nil
	}
	port, bad := strconv.ParseUint(text, 10, 16)
	if err := errors.Join(err, bad); err != nil {
		return "", err
	}
	return net.JoinHostPort(host, strconv.FormatUint(port+node-1, 10)), nil
}
