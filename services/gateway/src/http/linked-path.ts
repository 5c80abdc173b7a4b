import { paramsOf } from '@vision/contracts/ids';
import { publicOperations } from '@vision/contracts/public-operations';
import type { PublicOperation } from '@vision/contracts/public-operations';
import { pathTo } from '@vision/contracts/question';

/** A path that a link may have, in its one spelling, with its operation. */
export interface LinkedPath {
  entry: PublicOperation;
  params: Record<string, string>;
  path: string;
}

/** The operation of a path; undefined for paths that no link may have, and for other spellings. */
export function linkedPathOf(text: string): LinkedPath | undefined {
  for (const entry of publicOperations) {
    if (entry.isLinkable !== true) continue;
    const params = paramsIn(entry.path, text);
    if (params) return { entry, params, path: pathTo(entry.path, params, undefined) };
  }
  return undefined;
}

function paramsIn(template: string, text: string): Record<string, string> | undefined {
  const [wanted, given] = [template.split('/'), text.split('/')];
  if (wanted.length !== given.length) return undefined;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined && value !== part) return undefined;
    if (name !== undefined) found[name] = value;
  }
  return paramsOf(template).safeParse(found).data;
}
