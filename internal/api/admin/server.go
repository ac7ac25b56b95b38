package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/notice"
	"github.com/bourse-exchange/bourse/internal/operator"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/webhook"
)

// maxBody bounds a request, in bytes: a catalogue of some thousand markets fits.
const maxBody = 8 << 20

// Sequencer sequences commands.
type Sequencer interface {
	// Do submits a command and waits for its outcome.
	Do(ctx context.Context, c *bourse.Command) (sequencer.Result, error)
}

// Options are the parts of a server.
type Options struct {
	Accounts  *account.Service
	Notices   *notice.Board
	Operators *operator.Service
	Webhooks  *webhook.Service
	View      *view.View
	History   *history.Reader
	Sequencer Sequencer
	// FormatHash formats transaction names; nil for hex.
	FormatHash FormatHash
	// Devnet is nil unless the exchange has embedded networks.
	Devnet Devnet
	// Letters is the mail of a sandbox; nil if the exchange sends its mail.
	Letters Letters
	// AcceptClock accepts a jump of the machine's clock.
	AcceptClock func()
	// Voids are the voided commands, oldest first.
	Voids []Void
	// Cluster is nil for an exchange on one node.
	Cluster Cluster
	// Confirm is that of api.Server, for the answers on the socket; nil for an exchange on one node.
	Confirm func(context.Context) error
	// Status tells of the node.
	Status func() any
	// Condition returns the condition of the parts that the view does not show.
	Condition func() Condition
	// Purses returns, for each connected network, the money that it holds and why it does not operate.
	Purses func(ctx context.Context) map[bourse.NetworkID]Purse
	// Cold returns the cold storage of a network, which may refuse everything; nil if the network is not connected.
	Cold func(bourse.NetworkID) ColdStorage
	// Funds returns the exchange's money, as it was some seconds ago at most.
	Funds func(ctx context.Context) (*bourse.Funds, error)
	Log   *slog.Logger
}

// Void is a command that an operator voided before a start.
type Void struct {
	Seq      bourse.Seq `json:"seq"`
	Time     string     `json:"time"`
	Operator uint32     `json:"uid"`
	Reason   string     `json:"reason"`
}

// Server answers operators.
type Server struct {
	Options
	// made guards table.
	made  sync.Once
	table map[string]verb
}

// verb is an operation for operators.
type verb struct {
	// do reads its arguments and returns the answer.
	do operation
	// role is the least role that carries out the verb in the name of an operator; zero if none
	// does. The engine asks for more where the command of an act needs more.
	role bourse.OperatorRole
}

// operation reads the arguments of a verb and returns the answer.
type operation func(ctx context.Context, args jsontext.Value) (any, error)

// RoleOf returns the lowest role whose operators may order a verb.
func (s *Server) RoleOf(name string) bourse.OperatorRole { return s.verb(name).role }

// verb returns a verb that exists.
func (s *Server) verb(name string) verb {
	v, known := s.verbs()[name]
	if !known {
		bourse.Impossible("there is no verb %s", name)
	}
	return v
}

// verbs returns the verbs by their names. The table is made once, and never changed.
func (s *Server) verbs() map[string]verb {
	s.made.Do(func() { s.table = s.newVerbs() })
	return s.table
}

// newVerbs makes the table of verbs. The role of a verb that orders commands is their own.
func (s *Server) newVerbs() map[string]verb {
	const nobody, viewer, daily, owner = bourse.OperatorRole(0), bourse.RoleViewer, bourse.RoleOperator, bourse.RoleOwner
	orders := record.LeastRole

	table := map[string]verb{
		"status":               {taking(s.status), nobody},
		"dashboard":            {taking(s.dashboard), viewer},
		"solvency":             {taking(s.solvency), viewer},
		"account/create":       {s.closed(taking(s.accountCreate)), nobody},
		"account/show":         {taking(s.accountShow), viewer},
		"account/list":         {taking(s.accountList), viewer},
		"account/orders":       {taking(s.accountOrders), viewer},
		"account/ledger":       {taking(s.accountLedger), viewer},
		"account/transactions": {taking(s.accountTransactions), viewer},
		"account/sessions":     {taking(s.accountSessions), viewer},
		"account/reset":        {taking(s.accountReset), orders(bourse.CommandResetPerson)},
		"account/freeze":       {taking(s.accountFreeze), orders(bourse.CommandFreezeAccount)},
		"account/unfreeze":     {taking(s.accountUnfreeze), orders(bourse.CommandFreezeAccount)},
		"account/fees":         {taking(s.accountFees), orders(bourse.CommandSetAccountFees)},
		"account/level":        {taking(s.accountLevel), orders(bourse.CommandSetAccountLevel)},
		"account/tier":         {taking(s.accountTier), orders(bourse.CommandSetAccountTier)},
		"key/create":           {s.closed(taking(s.keyCreate)), nobody},
		"key/revoke":           {taking(s.keyRevoke), daily},
		"factor/reset":         {s.closed(taking(s.factorReset)), nobody},
		"factor/stolen":        {s.closed(taking(s.factorStolen)), nobody},
		"mail/last":            {taking(s.mailLast), nobody},
		"notice/add":           {s.closed(taking(s.noticeAdd)), daily},
		"notice/list":          {taking(s.noticeList), viewer},
		"notice/end":           {s.closed(taking(s.noticeEnd)), daily},
		"webhook/add":          {s.closed(taking(s.webhookAdd)), owner},
		"webhook/list":         {taking(s.webhookList), viewer},
		"webhook/enable":       {s.closed(taking(s.webhookEnable)), owner},
		"webhook/remove":       {s.closed(taking(s.webhookRemove)), owner},
		"webhook/test":         {s.closed(taking(s.webhookTest)), owner},
		"credit":               {taking(s.credit), nobody},
		"balances":             {taking(s.balances), viewer},
		"markets/pause":        {taking(s.marketsPause), orders(bourse.CommandSetMarketState)},
		"markets/resume":       {taking(s.marketsResume), owner},
		"market/state":         {taking(s.marketState), orders(bourse.CommandSetMarketState)},
		"fees/collect":         {taking(s.feesCollect), orders(bourse.CommandCollectFees)},
		"rules/adopt":          {taking(s.rulesAdopt), orders(bourse.CommandSetRules)},
		"log":                  {taking(s.notes), viewer},
		"catalogue/show":       {taking(s.catalogueShow), viewer},
		"catalogue/preview":    {taking(s.cataloguePreview), viewer},
		"catalogue/apply":      {taking(s.catalogueApply), owner},
		"cluster/admit":        {taking(s.clusterAdmit), nobody},
		"cluster/leave":        {taking(s.clusterLeave), nobody},
		"cluster/transfer":     {taking(s.clusterTransfer), nobody},
		"cluster/token":        {taking(s.clusterToken), nobody},
		"cluster/upgrade":      {taking(s.clusterUpgrade), nobody},
		"clock/accept":         {taking(s.clockAccept), nobody},
		"withdrawal/list":      {taking(s.withdrawalList), viewer},
		"withdrawal/approve":   {s.withdrawal("approve", bourse.Command{Kind: bourse.CommandDecideWithdrawal, On: true}), orders(bourse.CommandDecideWithdrawal)},
		"withdrawal/deny":      {s.withdrawal("deny", bourse.Command{Kind: bourse.CommandDecideWithdrawal}), orders(bourse.CommandDecideWithdrawal)},
		"withdrawal/replace":   {s.withdrawal("replace", bourse.Command{Kind: bourse.CommandReplaceWithdrawal}), orders(bourse.CommandReplaceWithdrawal)},
		"withdrawal/paid":      {taking(s.withdrawalPaid), orders(bourse.CommandPaidWithdrawal)},
		"withdrawal/release":   {s.withdrawal("release", bourse.Command{Kind: bourse.CommandReleaseWithdrawal}), orders(bourse.CommandReleaseWithdrawal)},
		"withdrawals/limit":    {taking(s.withdrawalsLimit), orders(bourse.CommandSetApprovalLimit)},
		"withdrawals/pause":    {taking(s.withdrawalsPause), orders(bourse.CommandPauseWithdrawals)},
		"deposits/parked":      {taking(s.depositsParked), viewer},
		"deposit/assign":       {taking(s.depositAssign), orders(bourse.CommandAssignDeposit)},
	}
	maps.Copy(table, s.networkVerbs())
	maps.Copy(table, s.operatorVerbs())
	maps.Copy(table, s.devnetVerbs())
	return table
}

// networkVerbs are those about networks.
func (s *Server) networkVerbs() map[string]verb {
	orders := record.LeastRole
	return map[string]verb{
		"network/list":      {taking(s.networkList), bourse.RoleViewer},
		"network/cool":      {taking(s.networkCool), orders(bourse.CommandCool)},
		"network/end-cool":  {taking(s.networkEndCool), orders(bourse.CommandCool)},
		"network/psbt":      {taking(s.networkPSBT), orders(bourse.CommandWarm)},
		"network/send-psbt": {taking(s.networkSendPSBT), orders(bourse.CommandWarm)},
		"network/end-psbt":  {taking(s.networkEndPSBT), orders(bourse.CommandWarm)},
		"network/follow":    {taking(s.networkFollow), orders(bourse.CommandFollowChain)},
	}
}

// operatorVerbs are those about operators themselves.
func (s *Server) operatorVerbs() map[string]verb {
	const viewer, owner = bourse.RoleViewer, bourse.RoleOwner
	return map[string]verb{
		"operator/invite":   {taking(s.operatorInvite), owner},
		"operator/list":     {taking(s.operatorList), viewer},
		"operator/change":   {taking(s.operatorChange), record.LeastRole(bourse.CommandChangeOperator)},
		"operator/acts":     {taking(s.operatorActs), viewer},
		"operator/keys":     {taking(s.operatorKeys), viewer},
		"operator/make-key": {taking(s.operatorMakeKey), viewer},
		"operator/end-key":  {taking(s.operatorEndKey), viewer},
		"operator/log-out":  {taking(s.operatorLogOut), viewer},
	}
}

// Handler returns the handler of the socket.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for name, v := range s.verbs() {
		do := v.do
		if s.Confirm != nil && !ofNode[name] {
			do = s.confirmed(do)
		}
		mux.HandleFunc("POST /"+name, func(w http.ResponseWriter, r *http.Request) { s.serve(do, w, r) })
	}
	return mux
}

// ofNode has the verbs of a node of a cluster, whose answers hold whether it leads or not.
var ofNode = map[string]bool{
	"status": true, "cluster/admit": true, "cluster/transfer": true, "cluster/leave": true, "cluster/token": true,
	"cluster/upgrade": true,
}

var errElsewhere = bourse.Errorf(bourse.CodeUnknown,
	"Another node may lead the exchange now: what changes something may have been done or not, and what was read may be old. Ask again")

// confirmed returns an operation that answers, once it was carried out, when this process was still the exchange.
func (s *Server) confirmed(do operation) operation {
	return func(ctx context.Context, args jsontext.Value) (any, error) {
		answer, err := do(ctx, args)
		if !api.WithoutEffect(err) && s.Confirm(ctx) != nil {
			return nil, errElsewhere
		}
		return answer, err
	}
}

// StatusHandler returns the handler of the socket of a standby or replica, which knows no other verb and
// answers them with the reason that why returns.
func (s *Server) StatusHandler(why func() string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /status", func(w http.ResponseWriter, r *http.Request) { s.serve(taking(s.status), w, r) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse := func(context.Context, jsontext.Value) (any, error) {
			return nil, bourse.Errorf(bourse.CodeRefused, "%s", why())
		}
		s.serve(refuse, w, r)
	})
	return mux
}

func (s *Server) status(context.Context, struct{}) (any, error) { return s.Status(), nil }

func (s *Server) serve(do operation, w http.ResponseWriter, r *http.Request) {
	result, err := s.answer(do, w, r)
	status := http.StatusOK
	if err != nil {
		status, result = s.problem(r, err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, result) // the operator may be gone
}

func (s *Server) answer(do operation, w http.ResponseWriter, r *http.Request) (any, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, bourse.Errorf(bourse.CodeInvalid, "reading the request: %v", err)
	}
	args, order, err := takeGlass(body)
	if err != nil {
		return nil, err
	}
	return s.carryOut(r.Context(), do, args, order)
}

// problem returns the answer for an error.
func (s *Server) problem(r *http.Request, err error) (status int, answer any) {
	var known *bourse.Error
	if !errors.As(err, &known) {
		s.Log.Error("operator's request failed", slog.String("verb", r.URL.Path), slog.Any("error", err))
		return http.StatusInternalServerError, failure{err.Error()}
	}
	return http.StatusBadRequest, failure{known.Message}
}

// failure is the answer for an error.
type failure struct {
	Error string `json:"error"`
}

// taking returns the operation that reads its arguments into an A; unknown members are errors.
func taking[A any](do func(context.Context, A) (any, error)) operation {
	return func(ctx context.Context, args jsontext.Value) (any, error) {
		var a A
		if err := json.Unmarshal(args, &a, json.RejectUnknownMembers(true)); err != nil {
			return nil, bourse.Errorf(bourse.CodeInvalid, "arguments: %v", err)
		}
		return do(ctx, a)
	}
}

// note journals a request that orders no act, with the operator's name and reason.
func (s *Server) note(ctx context.Context, text string) error {
	uid, _ := ctx.Value(peerKey{}).(uint32)
	if o := orderOf(ctx); o.by != 0 {
		uid, text = history.NoUser, fmt.Sprintf("operator %d: %s: %s", o.by, text, o.reason)
	}
	_, err := s.Sequencer.Do(ctx, &bourse.Command{Kind: bourse.CommandNote, Operator: uid, Text: text})
	return err
}

// do sequences a command; a refusal is an error. An operator's command is ordered as an act, and the
// command of a request that breaks the glass as a break-glass act, unless it needs no operators. A key
// orders only the commands that need no act from the socket either: they stop something.
func (s *Server) do(ctx context.Context, cmd *bourse.Command) (sequencer.Result, error) {
	need := record.AuthorityOf(cmd)
	if orderOf(ctx).byKey && !need.Bare {
		return sequencer.Result{}, operator.ErrPerson
	}
	if o := orderOf(ctx); o.by != 0 && need.Role != 0 || o.by == 0 && o.reason != "" && !need.Bare {
		return s.order(ctx, o, cmd)
	}
	if need.Own && s.Operators.Guarded() {
		return sequencer.Result{}, errOperatorsOnly // the engine takes it, as the exchange's own
	}
	r, err := s.Sequencer.Do(ctx, cmd)
	if err == nil && r.Outcome.Reason != 0 {
		err = refusal(r.Outcome.Reason)
	}
	return r, err
}

// refusal explains a reason for which the exchange refuses a command.
func refusal(reason bourse.Reason) error {
	if reason == bourse.OperatorsOnly {
		return errOperatorsOnly
	}
	return &bourse.Error{Code: bourse.CodeRefused, Reason: reason, Message: reason.String()}
}

// noted journals a note, then sequences the command. The act of an operator is a note itself.
func (s *Server) noted(ctx context.Context, text string, cmd *bourse.Command) (sequencer.Result, error) {
	if o := orderOf(ctx); o.by == 0 || record.AuthorityOf(cmd).Role == 0 {
		if err := s.note(ctx, text); err != nil {
			return sequencer.Result{}, err
		}
	}
	return s.do(ctx, cmd)
}
