import type { Knex } from 'knex';
import type { Migration } from '@vision/shared/db/migrate';

/** What the release before reads or writes may not be taken away while it runs beside this one. */
const forbidden: [RegExp, string][] = [
  [/\bdrop\s+(table|column|view|materialized view|type|domain|function|schema|sequence|trigger)\b/, 'drops something'],
  [/\bdrop\s+(constraint|index)\b/, 'drops a rule that an `on conflict` may name'],
  [/\brename\b/, 'renames something'],
  [/\balter\s+(column\s+)?\w+\s+(set\s+data\s+)?type\b/, 'changes the type of a column'],
  [/\balter\s+(column\s+)?\w+\s+set\s+not\s+null\b/, 'makes a column not null'],
  [/\balter\s+(column\s+)?\w+\s+drop\s+default\b/, 'takes a default away'],
  [/\badd\s+(constraint|check|unique|foreign|primary|exclude)\b/, 'adds a rule to a table'],
  [/\bcreate\s+unique\s+index\b/, 'adds a rule to a table'],
  [/\b(truncate|delete\s+from)\b/, 'removes rows'],
];

/**
 * Why the release before could not run on what a migration leaves; empty for one that only adds. Tables that it creates
 * itself may have any form, because that release does not know them.
 */
export async function destructionsOf(migration: Migration): Promise<string[]> {
  const statements = (await statementsOf(migration)).map(withoutTexts);
  const own = new Set(statements.flatMap((sql) => [...sql.matchAll(CREATED)].map(([, table]) => table)));
  return statements
    .flatMap((sql) => sql.split(';'))
    .filter((sql) => !own.has(TARGET.exec(sql)?.[1]))
    .flatMap((sql) => [...faultsOf(sql), ...addedWithoutDefault(sql)].map((fault) => `${fault}: ${shortened(sql)}`));
}

const CREATED = /\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/g;
/** The table that a statement is about. */
const TARGET =
  /^\s*(?:create\s+table|alter\s+table|create\s+unique\s+index[^(]*?\bon|delete\s+from)\s+(?:if\s+(?:not\s+)?exists\s+)?(?:only\s+)?(\w+)/;

const faultsOf = (sql: string) => forbidden.filter(([pattern]) => pattern.test(sql)).map(([, fault]) => fault);

/** Each `add column … not null` needs a default, because the release before does not name the column. */
function addedWithoutDefault(sql: string): string[] {
  const columns = sql.split(/(?=\badd\s+column\b)/).slice(1);
  const isRefused = (column: string) => /\bnot\s+null\b/.test(column) && !/\bdefault\b|\bgenerated\b/.test(column);
  return columns.some(isRefused) ? ['adds a column that is not null and has no default'] : [];
}

/** Everything the migration sends. What it asks for is answered with no rows. */
async function statementsOf(migration: Migration): Promise<string[]> {
  const sent: string[] = [];
  const raw = async (sql: string) => {
    sent.push(sql);
    return { rows: [] };
  };
  // Migrations are SQL; one that uses anything but `raw` fails here and has to be looked at.
  await migration.up({ raw } as unknown as Knex);
  return sent;
}

/** In lower case, without comments, literals and the bodies of functions. */
function withoutTexts(sql: string): string {
  return sql
    .toLowerCase()
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/'(?:[^']|'')*'/g, "''");
}

const shortened = (sql: string) => sql.trim().replaceAll(/\s+/g, ' ').slice(0, 120);
