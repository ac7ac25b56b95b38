package forward

// RequestsPerSource bounds the requests of an address that are on their way.
const RequestsPerSource = requestsPerSource
