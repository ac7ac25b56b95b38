package forward

// RequestsPerSource bounds the requests of an address that are on their way.
const RequestsPerSource = requestsPerSource

// MostDials bounds the connections for streams that are made at once.
const MostDials = mostDials
