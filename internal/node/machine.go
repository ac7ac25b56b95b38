package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// The errors of settings that nodes on machines of their own cannot have.
var (
	errAccountsInFile = errors.New("the nodes of a cluster share their accounts: set `accounts` to the postgres:// URL of a database that " +
		"all of them reach; `bourse store move` copies a file there")
	errHistoryElsewhere = errors.New("each node of a cluster keeps its history in its data directory: leave `history` out")
	errNoPublicURL      = errors.New("the nodes of a cluster need the same `public-url`, because clients ask any of them")
	errOneName          = errors.New("`tls-domain` is for an exchange on one machine, the only one that an authority reaches under the name: " +
		"give each node of a cluster `tls-cert` and `tls-key`, or put a proxy in front")
	errVoidAlone = errors.New("no node of a cluster takes a command out of effect alone: start without `void`")
)

// checkMember refuses settings with which a node could not lead.
func (o *MemberOptions) checkMember(ctx context.Context, c *cluster.Config, d disk.Disk) error {
	if err := o.check(ctx); err != nil {
		return err
	}
	if c.Sandbox != (o.Sandbox != nil) {
		return fmt.Errorf("%s: %w: `bourse dev` opens sandboxes, `bourse serve` production", o.Data, journal.ErrSandbox)
	}
	if c.Sandbox {
		return nil
	}

	switch {
	case o.Accounts == "":
		return errAccountsInFile
	case o.History != "":
		return errHistoryElsewhere
	case o.PublicURL == "":
		return errNoPublicURL
	case o.Certificate.ACME.Domain != "":
		return errOneName
	case o.Void != 0:
		return errVoidAlone
	}
	_, err := Secrets(d)
	return err
}

// sharedFiles are the files beside the journal that all nodes of a cluster have alike: the key that opens what any leader has sealed,
// and the commands that no engine applies. The second one is missing unless there are some.
var sharedFiles = []string{accountsSecret, journal.VoidsFile}

// Secrets returns the shared files of a data directory, which another node of its cluster gets. Without the key it is an error: a new one
// would open nothing that the others have sealed.
func Secrets(d disk.Disk) (list []cluster.Secret, err error) {
	for _, name := range sharedFiles {
		b, err := disk.ReadFile(d, name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && name == accountsSecret:
			return nil, fmt.Errorf("%s is missing, which all nodes of a cluster have alike: copy it from another node", name)
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		}
		list = append(list, cluster.Secret{Name: name, Bytes: b})
	}
	return list, nil
}

// MakeSecrets makes the secrets of the first node of a cluster, unless its data directory has them.
func MakeSecrets(d disk.Disk) error {
	_, err := disk.Secret(d, accountsSecret)
	return err
}

// KeepSecrets makes the secrets of a cluster durable in the data directory of a node that joins it.
func KeepSecrets(d disk.Disk, list []cluster.Secret) error {
	for _, s := range list {
		if !slices.Contains(sharedFiles, s.Name) {
			return fmt.Errorf("the leader sends %q, which is none of the secrets", s.Name)
		}
		if err := disk.PutSecret(d, s.Name, s.Bytes); err != nil {
			return err
		}
	}
	_, err := Secrets(d)
	return err
}

// portStanding is the answer of a node to the others about itself.
type portStanding struct {
	Version string         `json:"version"`
	Seq     bourse.Seq     `json:"seq"`
	Ready   bool           `json:"ready"`
	Cluster cluster.Status `json:"cluster"`
}

// standingOf returns the answer of a node to the others about itself.
func (o *MemberOptions) standingOf(n *cluster.Node) portStanding {
	return portStanding{o.Version, n.Log.Durable(), o.Gate.Opened(), n.Status()}
}
