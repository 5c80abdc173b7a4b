import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

const types: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a JSON object',
  array: 'a JSON array',
  record: 'a JSON object',
};

const formats: Record<string, string> = {
  guid: 'a UUID (8-4-4-4-12 hexadecimal digits)',
  uuid: 'a UUID (8-4-4-4-12 hexadecimal digits)',
  date: 'an existing date such as 2026-03-15',
  datetime: 'a time such as 2026-03-15T08:30:00Z; in a query, write + as %2B',
};

/**
 * What a caller can do about a value that its schema refuses, without the full stop. It stands in for the messages of
 * zod, which say what was received; a message that a schema words itself takes precedence.
 */
export function adviceOnValue(issue: Issue, isQuery: boolean): string | undefined {
  if (isQuery && Array.isArray(issue.input)) return 'Send it once';
  switch (issue.code) {
    case 'invalid_type':
      return adviceOnType(issue.expected, issue.input);
    case 'invalid_value':
      return issue.input === undefined ? `Send ${oneOf(issue.values)}${REQUIRED}` : `Send ${oneOf(issue.values)}`;
    case 'too_small':
      return `Send ${bound(issue.origin, issue.exact ? 'exactly' : 'at least', issue.minimum)}`;
    case 'too_big':
      return `Send ${bound(issue.origin, issue.exact ? 'exactly' : 'at most', issue.maximum)}`;
    case 'invalid_format':
      return `Send ${formats[issue.format] ?? `a text that matches ${issue.pattern ?? issue.format}`}`;
    case 'unrecognized_keys':
      return 'This operation does not accept it';
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options) && issue.options.length > 0
        ? `Send ${oneOf(issue.options)}`
        : 'Send one of the forms that the API document lists';
    case 'not_multiple_of':
      return `Send a multiple of ${issue.divisor}`;
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return undefined;
  }
}

const REQUIRED = '; it is required';

function adviceOnType(expected: string, input: unknown): string {
  const type = types[expected] ?? expected;
  return input === undefined ? `Send ${type}${REQUIRED}` : `Send ${type}`;
}

const oneOf = (values: readonly unknown[]) =>
  values.length === 1 ? String(values[0]) : `one of ${values.map(String).join(', ')}`;

function bound(origin: string, relation: string, limit: number | bigint): string {
  if (origin === 'string') return `${relation} ${counted(limit, 'character')}`;
  if (origin === 'array') return `${relation} ${counted(limit, 'entry', 'entries')}`;
  return `a number of ${relation} ${limit}`;
}

const counted = (limit: number | bigint, one: string, many = `${one}s`) =>
  `${limit} ${Number(limit) === 1 ? one : many}`;
