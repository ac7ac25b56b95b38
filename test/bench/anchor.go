package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
)

// frame is a WebSocket text frame of the size of an order book message.
var frame = func() []byte {
	text := []byte(`{"class":"data","stream":"BTC/USDT@orderBook","pair":"BTC/USDT","price":"60000.00","amount":"0.123000","side":"SELL","seq":123456}`)
	const short = 126
	return append([]byte{0x81, short, 0, byte(len(text))}, text...)
}()

// fan writes the frame to all connections, one write for each.
type fan struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (f *fan) send() {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := f.conns[:0]
	for _, c := range f.conns {
		if _, err := c.Write(frame); err == nil {
			kept = append(kept, c)
		} else {
			_ = c.Close()
		}
	}
	f.conns = kept
}

// ServeHTTP upgrades a connection. One frame answers the client's first byte, as a
// subscription's answer; other input is ignored.
func (f *fan) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	conn, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}

	if _, err := fmt.Fprintf(conn,
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:])); err != nil {
		_ = conn.Close()
		return
	}

	go f.subscribe(conn, rw.Reader)
}

// subscribe waits for input, answers it and adds the connection.
func (f *fan) subscribe(conn net.Conn, r *bufio.Reader) {
	if _, err := r.ReadByte(); err == nil {
		f.mu.Lock()
		if _, err = conn.Write(frame); err == nil {
			f.conns = append(f.conns, conn)
		}
		f.mu.Unlock()
	}
}

// trivial is a minimal handler of orders: it decodes a JSON object into a struct and
// encodes another one.
type trivial struct{ then func() }

func (t *trivial) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var order struct {
		Key    string `json:"api_key"`
		Pair   string `json:"pair"`
		Side   string `json:"side"`
		Type   string `json:"type"`
		TIF    string `json:"time_in_force"`
		Price  string `json:"price"`
		Amount string `json:"amount"`
		Resp   string `json:"resp_type"`
	}

	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}

	t.then()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct { // the client may be gone
		Success bool   `json:"success"`
		ID      uint64 `json:"obid"`
		Status  string `json:"status"`
	}{true, 1, "OPEN"})
}

// serveAnchor serves the trivial handler. With -fan each order also sends the frame to
// all connections.
func serveAnchor(args []string) error {
	var listen string
	var fans bool
	err := flags("anchor", args, func(f *flag.FlagSet) {
		f.StringVar(&listen, "listen", "127.0.0.1:0", "address to listen on")
		f.BoolVar(&fans, "fan", false, "send a frame to all connections for each order")
	})

	if err != nil {
		return err
	}

	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}

	all := new(fan)
	orders := &trivial{then: func() {}}
	if fans {
		orders.then = all.send
	}

	mux := http.NewServeMux()
	mux.Handle("/spot/open_orders/new", orders)
	mux.Handle("/stream", all)
	fmt.Fprintf(os.Stderr, "msg=serving address=%s\n", listener.Addr())

	if err := http.Serve(listener, mux); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
