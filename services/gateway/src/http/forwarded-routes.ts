import type { IncomingHttpHeaders } from 'node:http';
import { paramsOf } from '@vision/contracts/ids';
import { refusedImagesHeader, refusedImagesOf } from '@vision/contracts/images';
import { processorTimeHeader, processorTimesOf } from '@vision/contracts/inference';
import { outcomeHeader, readOutcome } from '@vision/contracts/outcome';
import { publicOperations } from '@vision/contracts/public-operations';
import type { Owner, PublicOperation } from '@vision/contracts/public-operations';
import { pathTo } from '@vision/contracts/question';
import { route } from '@vision/shared/http/route';
import type { Route, RouteContext } from '@vision/shared/http/route';
import { noteOutcome } from '@vision/shared/http/server-span';
import type { Spent } from '../domain/processor-budget.ts';
import type { Deps } from '../use-cases/deps.ts';
import { cutOf } from './cut-reason.ts';
import { inSlot, isCharged } from './in-slot.ts';
import { untilKeyEnds } from './until-key-ends.ts';
import type { KeyEndDeps } from './until-key-ends.ts';

export type ForwardDeps = Pick<Deps, 'forward' | 'slots' | 'processorBudgets' | 'signals'> & KeyEndDeps;

export function forwardedRoutes(deps: ForwardDeps): Route[] {
  return publicOperations.map((entry) => forwardedRoute(deps, entry));
}

function forwardedRoute(deps: ForwardDeps, entry: PublicOperation): Route {
  const { operation, method, path, owner } = entry;
  return route(
    {
      operation,
      method,
      path,
      summary: `Passed on to ${owner}`,
      audience: 'public',
      isForwarded: true,
      // An id of another form identifies nothing, so it is 404 here already.
      params: paramsOf(path),
      responses: {},
    },
    async ({ params, caller, req, res }) => {
      // Rebuilt from its parsed parts, so that no spelling of a path has two meanings here and in a service.
      const target = pathTo(path, params, undefined) + queryOf(req.originalUrl);
      await forwardOn(deps, entry, { target, caller, req, res });
      return undefined;
    },
  );
}

/** A request for the owner of an operation; `target` is path and query there. */
type Passage = Pick<RouteContext<unknown, unknown, unknown>, 'caller' | 'req' | 'res'> & { target: string };

/** Forwards a request, in a request slot where the operation needs one. */
export async function forwardOn(
  deps: ForwardDeps,
  { operation, owner, slot: kind, isStream = false }: PublicOperation,
  { target: path, caller, req, res }: Passage,
): Promise<void> {
  const forwardTo = async () => {
    // The cost is in the response, and the work continues after the client has disconnected.
    const isAnswerAwaited = kind !== undefined && isCharged(kind);
    const cut = () => cutOf(res);
    const onAnswer = (headers: IncomingHttpHeaders) => noteOutcome(res, readOutcome(headers[outcomeHeader]));
    const ending = isStream ? untilKeyEnds(deps, req, res) : undefined;
    const way = { operation, owner, path, caller, isAnswerAwaited, ending, cut, onAnswer };
    const answer = await deps.forward(req, res, way);
    await deps.processorBudgets.charge(caller.subject, costOf(answer));
  };
  const reported = () => reportingFailures(deps, owner, forwardTo);
  await (kind ? inSlot(deps, { kind, caller, res }, reported) : reported());
}

async function reportingFailures({ signals }: ForwardDeps, owner: Owner, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    signals.upstreamFailed(owner, error);
    throw error;
  }
}

/** The cost of the work, as the service reported it. */
function costOf(answer: IncomingHttpHeaders): Spent {
  return {
    processorMs: processorTimesOf(answer[processorTimeHeader]),
    refusedImages: refusedImagesOf(answer[refusedImagesHeader]),
  };
}

function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at === -1 ? '' : url.slice(at);
}
