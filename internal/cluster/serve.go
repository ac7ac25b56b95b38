package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	// mostPiece is the size of a piece of a file that a node sends to another, in bytes. A node sends piecesAtOnce of them at a
	// time, and rests for pieceRest behind each: 64 MiB a second leave the disk to trading.
	mostPiece    = 1 << 20
	piecesAtOnce = 2
	pieceRest    = time.Second / 32
	// mostQuestion bounds a question of another node, in bytes.
	mostQuestion = 16 << 10
	// sizeHeader has the size of the file of which an answer is a piece.
	sizeHeader = "Bourse-Size"
)

// The questions that nodes answer each other. Only the leader answers questions that change the cluster.
const (
	AskStatus   = "status"
	AskConfig   = "config"
	AskTransfer = "cluster/transfer"
	AskLeave    = "cluster/leave"
	AskUpgrade  = "cluster/upgrade"
)

// Numbered names a node by its number.
type Numbered struct {
	Node uint64 `json:"node"`
}

// serve answers the questions of other nodes until ctx ends.
func (n *Node) serve(ctx context.Context) {
	s := &http.Server{
		Handler: n.handler(), ReadHeaderTimeout: writeWithin, ReadTimeout: pieceWithin, IdleTimeout: time.Minute, MaxHeaderBytes: mostQuestion,
		ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug),
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	_ = s.Serve(n.transport.asked) // the listener fails by its end alone
}

// handler returns the handler of the questions of other nodes, whose keys are proven.
func (n *Node) handler() http.Handler {
	mux := http.NewServeMux()
	answer := func(question string, do func(context.Context, Numbered) (any, error)) {
		mux.HandleFunc("POST /"+question, func(w http.ResponseWriter, r *http.Request) {
			var about Numbered
			err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostQuestion)).Decode(&about)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			said, err := do(r.Context(), about)
			if err != nil {
				http.Error(w, err.Error(), http.StatusConflict)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(said) // the other node may be gone
		})
	}
	answer(AskStatus, func(context.Context, Numbered) (any, error) { return n.standing(), nil })
	answer(AskConfig, func(context.Context, Numbered) (any, error) { return n.Config(), nil })
	answer(AskTransfer, func(ctx context.Context, to Numbered) (any, error) {
		number, err := n.Transfer(ctx, to.Node)
		return Numbered{number}, err
	})
	answer(AskLeave, func(ctx context.Context, who Numbered) (any, error) { return n.Leave(ctx, who.Node) })
	answer(AskUpgrade, func(ctx context.Context, _ Numbered) (any, error) { return n.Upgrade(ctx) })

	places := make(chan struct{}, piecesAtOnce)
	for _, dir := range []string{journal.LiveDir, journal.ArchiveDir} {
		mux.HandleFunc("GET /"+dir, func(w http.ResponseWriter, _ *http.Request) { n.list(w, dir) })
		mux.HandleFunc("GET /"+dir+"/{name}", func(w http.ResponseWriter, r *http.Request) {
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
			case <-r.Context().Done():
				return
			}
			n.piece(w, r, dir)
		})
	}
	return mux
}

// list answers with the names in a directory of the journal.
func (n *Node) list(w http.ResponseWriter, dir string) {
	names, err := n.disk.List(dir)
	if err != nil {
		fileError(w, err)
		return
	}
	_ = json.NewEncoder(w).Encode(names) // the other node may be gone
}

// piece answers with a piece of a file in a directory of the journal. The name is one element: the secrets of the exchange lie beside
// the journal.
func (n *Node) piece(w http.ResponseWriter, r *http.Request, dir string) {
	name := r.PathValue("name")
	from, err := strconv.ParseInt(r.FormValue("from"), 10, 64)
	if err != nil || from < 0 || !fs.ValidPath(name) || strings.Contains(name, "/") {
		http.Error(w, "there is no such piece", http.StatusBadRequest)
		return
	}
	b, size, err := pieceOf(n.disk, path.Join(dir, name), from)
	if err != nil {
		fileError(w, err)
		return
	}

	// A node that reads nothing would keep the place, and others from theirs.
	if err := http.NewResponseController(w).SetWriteDeadline(n.clock().Add(pieceWithin)); err != nil {
		return // the other node is gone
	}
	w.Header().Set(sizeHeader, strconv.FormatInt(size, 10))
	_, _ = w.Write(b) //nolint:gosec // a node reads it, no browser; it may be gone
	select {
	case <-r.Context().Done():
	case <-n.after(pieceRest):
	}
}

// pieceOf reads a piece of a file, and the file's size.
func pieceOf(d disk.Disk, name string, from int64) (b []byte, size int64, err error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if size, err = f.Size(); err != nil {
		return nil, 0, err
	}
	b = make([]byte, max(min(mostPiece, size-from), 0))
	read, err := f.ReadAt(b, from)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:read], size, err
}

// fileError answers with an error of a file.
func fileError(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if errors.Is(err, fs.ErrNotExist) {
		status = http.StatusNotFound
	}
	http.Error(w, err.Error(), status)
}
