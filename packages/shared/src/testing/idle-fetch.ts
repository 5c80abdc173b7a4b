import { Agent, setGlobalDispatcher } from 'undici';
import { IDLE_CONNECTION_MS } from '../http/idle-connection.ts';

/** Lets `fetch` of this process close idle connections as our own services do, and as a proxy in front has to. */
export function giveIdleConnectionsUp(): void {
  setGlobalDispatcher(new Agent({ keepAliveTimeout: IDLE_CONNECTION_MS, keepAliveMaxTimeout: IDLE_CONNECTION_MS }));
}
