// Command etcd starts the etcd server from its published module, which ships the
// server as a library and keeps its own main package out of reach.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
