import { signal } from '@preact/signals';
import { createVisionClient, VisionError } from '@vision/client';
import type { Scene, VisionClient } from '@vision/client';
import { clearPending } from '../lib/pending-upload.ts';
import { codeIn, routeOf } from '../lib/route.ts';
import { troubleOf } from '../lib/trouble.ts';
import type { Trouble } from '../lib/trouble.ts';
import { foundOf } from './data.ts';
import { route } from './route.ts';
import { forgetSnapshots } from './snapshots.ts';
import { forgetTaskList } from './task-list.ts';

/** Reason why the sign-in page is shown. */
export type SignedOut = 'first' | 'asked' | 'rejected' | 'idle' | 'code_invalid' | 'unavailable' | 'resuming';

export interface Session {
  key: string;
  client: VisionClient;
  /** Empty when the key may not read. */
  scenes: Scene[];
}

const STORAGE = 'vision-key';
const IDLE_MS = 30 * 60_000;
const RETRY_MS = 20_000;

export const session = signal<Session | undefined>(undefined);
export const signedOut = signal<SignedOut>('first');
/** Whether the last request got no answer. */
export const isOffline = signal(false);
/** Scopes that a key can be limited to. */
export const SCOPES = ['read', 'create', 'notify'] as const;
export type Scope = (typeof SCOPES)[number];
/** Scopes that the key does not have: those that the service names, and those that a refusal did. */
export const missingScopes = signal<ReadonlySet<string>>(new Set());

/** Signs in with the code of the address or the key that this tab keeps. */
export async function resumeSession(): Promise<void> {
  const code = codeIn(location.hash);
  if (code !== undefined) {
    // The code works once; it stays neither in the address nor in the history.
    history.replaceState(null, '', location.pathname);
    route.value = routeOf(location.hash);
    signedOut.value = 'resuming';
    const key = await exchangeCode(code);
    if (key === undefined || (await signIn(key, false))) signedOut.value = 'code_invalid';
    return;
  }
  const kept = sessionStorage.getItem(STORAGE);
  if (kept === null) return;
  signedOut.value = 'resuming';
  const trouble = await signIn(kept, true);
  if (trouble) signedOut.value = isOfKey(trouble) ? 'rejected' : 'unavailable';
}

/** A code that is pasted into an open tab signs in too: only the fragment changes, so nothing is loaded. */
addEventListener('hashchange', () => {
  if (codeIn(location.hash) !== undefined) void resumeSession();
});

/** Whether the key itself is rejected. The tab keeps its key while the service is unavailable. */
const isOfKey = ({ reason }: Trouble) => reason.startsWith('api_key_');

async function exchangeCode(code: string): Promise<string | undefined> {
  try {
    const headers = { authorization: `Console-Code ${code}` };
    const answer = await fetch('/console/session', { method: 'POST', headers });
    return answer.ok ? ((await answer.json()) as { key: string }).key : undefined;
  } catch {
    return undefined;
  }
}

/** Signs in when the service accepts the key. `keep` keeps it until the tab is closed. Returns why it did not. */
export async function signIn(key: string, keep: boolean): Promise<Trouble | undefined> {
  const client = clientFor(key);
  try {
    const scopes = (await scopesOf(client)) ?? SCOPES;
    const missing = new Set<string>(SCOPES.filter((scope) => !scopes.includes(scope)));
    const scenes = missing.has('read') ? undefined : await scenesOf(client);
    if (!scenes) missing.add('read');
    missingScopes.value = missing;
    session.value = { key, client, scenes: scenes ?? [] };
  } catch (error) {
    const trouble = troubleOf(error);
    if (trouble && isOfKey(trouble)) sessionStorage.removeItem(STORAGE);
    return trouble;
  }
  if (keep) sessionStorage.setItem(STORAGE, key);
  else sessionStorage.removeItem(STORAGE);
  noteActivity();
  return undefined;
}

/** The scenes; undefined for a key that is valid and may not read. */
async function scenesOf(client: VisionClient): Promise<Scene[] | undefined> {
  try {
    return await client.scenes();
  } catch (error) {
    if (error instanceof VisionError && error.problem.details.reason === 'scope_missing') return undefined;
    throw error;
  }
}

/** Scopes of the key; undefined when the service is too old to report them. */
async function scopesOf(client: VisionClient): Promise<string[] | undefined> {
  return foundOf(await client.api.GET('/v1/vision/key'))?.scopes;
}

export function signOut(why: SignedOut): void {
  clearTimeout(idleTimer);
  sessionStorage.removeItem(STORAGE);
  clearPending(sessionStorage);
  session.value = undefined;
  forgetSnapshots();
  forgetTaskList();
  signedOut.value = why;
}

function clientFor(key: string): VisionClient {
  return createVisionClient({ baseUrl: location.origin, apiKey: key, maxRetryMs: RETRY_MS, fetch: watched });
}

/** Notes whether the service is reached, and ends the session when it rejects the key. */
async function watched(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    isOffline.value = false;
    if (response.status === 401 && session.value) signOut('rejected');
    return response;
  } catch (error) {
    if (!request.signal.aborted) isOffline.value = true;
    throw error;
  }
}

/** Remembers scopes that the key lacks, so that a page says so before the viewer fills in a form. */
export function noteTrouble(error: unknown): Trouble | undefined {
  const trouble = troubleOf(error);
  if (trouble?.scope !== undefined) missingScopes.value = new Set([...missingScopes.value, trouble.scope]);
  if (trouble?.reason.startsWith('api_key_') === true && session.value) signOut('rejected');
  return trouble;
}

/**
 * The problem of a request that the page repeats by itself. A lost connection is reported once for the whole page, so
 * content that is already shown stays.
 */
export function noteLoading(error: unknown, isShown: boolean): Trouble | undefined {
  const trouble = noteTrouble(error);
  return isShown && trouble?.reason === 'offline' ? undefined : trouble;
}

let idleTimer: ReturnType<typeof setTimeout> | undefined;

/** Restarts the idle timer of the sign-out: the viewer did something, or an operation of theirs is still running. */
export function noteActivity(): void {
  clearTimeout(idleTimer);
  if (session.value) idleTimer = setTimeout(() => signOut('idle'), IDLE_MS);
}

for (const type of ['pointerdown', 'keydown', 'wheel']) addEventListener(type, noteActivity, { passive: true });

/** The client of a page that is shown after the sign-in only. */
export function useSession(): Session {
  const current = session.value;
  if (!current) throw new Error('not signed in');
  return current;
}
