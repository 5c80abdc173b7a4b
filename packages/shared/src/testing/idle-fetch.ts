import { Agent, setGlobalDispatcher } from 'undici';
import { IDLE_CONNECTION_MS } from '../http/idle-connection.ts';

/** Lets `fetch` of this process give idle connections up as our own services do, and as whoever is in front has to. */
export function giveIdleConnectionsUp(): void {
  setGlobalDispatcher(new Agent({ keepAliveTimeout: IDLE_CONNECTION_MS, keepAliveMaxTimeout: IDLE_CONNECTION_MS }));
}
