/**
 * How long before the end of its session a connection logs in again. Sessions end with the token of a login, or when
 * the brokers say so (`connections.max.reauth.ms`).
 */
export const REAUTHENTICATE_MS = 10_000;
