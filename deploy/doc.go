// Package deploy embeds the files that `bourse init` writes.
//
// cmd/bourse uses it. The rest of the folder is for operators to read and copy: the
// Containerfile, the alerts, the dashboard.
package deploy
