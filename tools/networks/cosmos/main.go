// Command run is a node of one validator for tests: a chain of the Cosmos SDK with accounts and a bank, whose id is dev-1.
// It listens on loopback alone, and keeps its chain in its directory.
//
//	run -home DIR [-rpc 127.0.0.1:26657] [-block-time 1s]
//	run -home DIR -rpc 127.0.0.1:26657 -control SOCKET
//
// With -control, blocks come on demand by HTTP on a Unix socket: GET /mine?blocks=3 returns when there are three more.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"cosmossdk.io/depinject"
	"cosmossdk.io/log/v2"
	sdkmath "cosmossdk.io/math"
	cfg "github.com/cometbft/cometbft/config"
	cmtlog "github.com/cometbft/cometbft/libs/log"
	"github.com/cometbft/cometbft/node"
	"github.com/cometbft/cometbft/p2p"
	"github.com/cometbft/cometbft/privval"
	"github.com/cometbft/cometbft/proxy"
	"github.com/cometbft/cometbft/types"
	dbm "github.com/cosmos/cosmos-db"

	"github.com/cosmos/cosmos-sdk/baseapp"
	"github.com/cosmos/cosmos-sdk/client"
	"github.com/cosmos/cosmos-sdk/codec"
	"github.com/cosmos/cosmos-sdk/runtime"
	"github.com/cosmos/cosmos-sdk/server"
	serverconfig "github.com/cosmos/cosmos-sdk/server/config"
	"github.com/cosmos/cosmos-sdk/testutil/network"
	"github.com/cosmos/cosmos-sdk/testutil/sims"
	sdk "github.com/cosmos/cosmos-sdk/types"
	"github.com/cosmos/cosmos-sdk/types/mempool"
	authtypes "github.com/cosmos/cosmos-sdk/x/auth/types"
	banktypes "github.com/cosmos/cosmos-sdk/x/bank/types"
)

const (
	// chainID is on the list of test chains that a sandbox takes.
	chainID = "dev-1"
	// ibcDenom is the denomination of a coin of another chain.
	ibcDenom = "ibc/F663521BF1836B00F5F177680F74BFB9A8B5654A694D0D2BC249E03CF2509013"
	denom    = "uatom"
	minPrice = "0.025" + denom
	// maxWaiting bounds the transactions that wait.
	maxWaiting = 5000
)

func main() {
	version := flag.Bool("version", false, "print the version")
	home := flag.String("home", "", "directory of the node")
	rpc := flag.String("rpc", "127.0.0.1:26657", "address of the RPC server")
	control := flag.String("control", "", "socket of the control, and blocks on demand")
	every := flag.Duration("block-time", time.Second, "time between blocks without control")
	rich := flag.String("rich", "cosmos19rl4cm2hmr8afy4kldpxz3fka4jguq0auqdal4", "account of the first block that owns all coins")
	flag.Parse()
	if *version {
		fmt.Println("cosmos-sdk 0.55.0, chain", chainID)
		return
	}
	if err := run(*home, *rpc, *control, *rich, *every); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run starts the node, and serves until the process ends.
func run(home, rpc, control, rich string, every time.Duration) error {
	sdk.DefaultBondDenom = denom
	config := configure(home, rpc)
	for _, dir := range []string{"config", "data"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			return err
		}
	}

	key := privval.LoadOrGenFilePV(config.PrivValidatorKeyFile(), config.PrivValidatorStateFile())
	nodeKey, err := p2p.LoadOrGenNodeKey(config.NodeKeyFile())
	if err != nil {
		return err
	}
	g := newGate()
	app, cdc, err := application(home, g)
	if err != nil {
		return err
	}
	if _, err := os.Stat(config.GenesisFile()); err != nil {
		if err := writeGenesis(config.GenesisFile(), app, cdc, key, rich); err != nil {
			return err
		}
	}

	n, err := node.NewNode(config, key, nodeKey, proxy.NewConnSyncLocalClientCreator(server.NewCometABCIWrapper(app)),
		node.DefaultGenesisDocProviderFunc(config), cfg.DefaultDBProvider,
		node.DefaultMetricsProvider(config.Instrumentation), cmtlog.NewNopLogger())
	if err != nil {
		return err
	}
	settings := serverconfig.DefaultConfig()
	settings.MinGasPrices = minPrice
	app.RegisterNodeService(client.Context{}, *settings)
	fresh := app.LastBlockHeight() == 0
	go start(n)

	if control == "" {
		go g.tick(every)
	}
	if fresh {
		g.mine(1) // the application answers from the first block on
	}
	g.wait()
	if control == "" {
		fmt.Println("serving", rpc)
		select {}
	}

	_ = os.Remove(control) // that of a process that was killed
	l, err := net.Listen("unix", control)
	if err != nil {
		return err
	}
	fmt.Println("serving", rpc)
	return serve(l, g)
}

// start starts the node. After a kill that lasts until the gate opens, because the node goes on with the block it was at.
func start(n *node.Node) {
	if err := n.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// configure returns the settings of the consensus: only the gate holds blocks back.
func configure(home, rpc string) *cfg.Config {
	config := cfg.DefaultConfig().SetRoot(home)
	config.RPC.ListenAddress, config.P2P.ListenAddress = "tcp://"+rpc, "tcp://127.0.0.1:0"
	config.DBBackend = string(dbm.GoLevelDBBackend)
	config.Consensus.TimeoutCommit, config.Consensus.TimeoutPropose = time.Millisecond, 10_000*time.Hour
	return config
}

// application returns the chain's program. Transactions wait in its own pool, because the node chooses those of a
// block before the gate opens.
func application(home string, g *gate) (*runtime.App, codec.Codec, error) {
	db, err := dbm.NewDB("application", dbm.GoLevelDBBackend, filepath.Join(home, "data"))
	if err != nil {
		return nil, nil, err
	}
	var builder *runtime.AppBuilder
	var cdc codec.Codec
	parts := depinject.Configs(network.MinimumAppConfig(), depinject.Supply(log.NewNopLogger()))
	if err := depinject.Inject(parts, &builder, &cdc); err != nil {
		return nil, nil, err
	}

	pool := mempool.NewSenderNonceMempool(mempool.SenderNonceMaxTxOpt(maxWaiting))
	app := builder.Build(db, baseapp.SetChainID(chainID), baseapp.SetMempool(pool),
		baseapp.SetMinGasPrices(minPrice))
	app.SetPrepareProposal(g.wrap(baseapp.NewDefaultProposalHandler(pool, app.BaseApp).PrepareProposalHandler()))
	return app, cdc, app.Load(true)
}

// writeGenesis writes the first block, whose coins are all of one account.
func writeGenesis(file string, app *runtime.App, cdc codec.Codec, key *privval.FilePV, rich string) error {
	owner, err := sdk.AccAddressFromBech32(rich)
	if err != nil {
		return err
	}
	pub, err := key.GetPubKey()
	if err != nil {
		return err
	}
	validators := types.NewValidatorSet([]*types.Validator{types.NewValidator(pub, 1)})
	coins := sdk.NewCoins(sdk.NewCoin(denom, sdkmath.NewInt(1e15)), sdk.NewCoin(ibcDenom, sdkmath.NewInt(1e15)))
	state, err := sims.GenesisStateWithValSet(cdc, app.DefaultGenesis(), validators,
		[]authtypes.GenesisAccount{authtypes.NewBaseAccount(owner, nil, 0, 0)},
		banktypes.Balance{Address: rich, Coins: coins})
	if err != nil {
		return err
	}
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	doc := &types.GenesisDoc{
		ChainID: chainID, GenesisTime: time.Now(), ConsensusParams: types.DefaultConsensusParams(), AppState: text,
		Validators: []types.GenesisValidator{{PubKey: pub, Power: 1}},
	}
	if err := doc.ValidateAndComplete(); err != nil {
		return err
	}
	return doc.SaveAs(file)
}

// serve serves the control.
func serve(l net.Listener, g *gate) error {
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		blocks, err := strconv.Atoi(r.URL.Query().Get("blocks"))
		if err != nil || blocks < 1 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		g.mine(int64(blocks))
	}))
}
