package outside

import "net"

// Fleeting is a connection that breaks after some reads.
type Fleeting struct {
	net.Conn
	// Left is the number of reads before the break.
	Left int
}

// Read closes the connection when no read is left.
func (f *Fleeting) Read(b []byte) (int, error) {
	if f.Left--; f.Left < 0 {
		_ = f.Close()
	}
	return f.Conn.Read(b)
}
