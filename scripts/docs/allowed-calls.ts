import { allowedCalls, callees } from '@vision/contracts/allowed-calls';
import type { RouteDefinition } from '@vision/shared/http/route';

/** Part of the contract of the backend, but not called here: one job is read like many. */
const UNCALLED = ['inference getJob'];

/**
 * The faults of the table of allowed calls: operations of a service without an allowed caller, and calls that no
 * service answers or that only the gateway may make, because they are asked for from outside.
 */
export function faultsOfAllowedCalls(declared: { service: string; definition: RouteDefinition }[]): string[] {
  return callees.flatMap((callee) => {
    const own = declared.filter(({ service }) => service === callee).map(({ definition }) => definition);
    const guarded = own.filter(({ authenticated }) => authenticated !== false).map(({ operation }) => operation);
    const outside = own.filter(({ audience }) => audience === 'public').map(({ operation }) => operation);
    const entries = Object.entries(allowedCalls[callee]);
    const listed = new Set(entries.flatMap(([, operations]) => operations));
    return [
      ...guarded
        .filter((operation) => !listed.has(operation) && !UNCALLED.includes(`${callee} ${operation}`))
        .map((operation) => `no service may call ${operation} of ${callee}`),
      ...[...listed]
        .filter((operation) => !guarded.includes(operation))
        .map((operation) => `${callee} has no operation ${operation} to be called`),
      ...entries.flatMap(([caller, operations]) =>
        operations
          .filter((operation) => caller !== 'gateway' && outside.includes(operation))
          .map((operation) => `${caller} may call ${operation} of ${callee}, which is for callers from outside`),
      ),
    ];
  });
}
