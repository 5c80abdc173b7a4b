import { expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { bashCompletion, zshCompletion } from './completion.ts';
import { groups, single } from './commands/all.ts';

/** What bash offers behind these words. */
function offered(...words: string[]): string[] {
  const line = ['visionctl', ...words].map((word) => `'${word}'`).join(' ');
  const script = `${bashCompletion(groups, single)}
COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _visionctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
}

test('bash completes commands, options and the values that are known', () => {
  expect(offered('')).toEqual(expect.arrayContaining(['tasks', 'keys', 'audit', 'completion']));
  expect(offered('keys', 'r')).toEqual(['revoke', 'rotate']);
  expect(offered('key', 'cr')).toEqual(['create']);
  expect(offered('keys', 'create', '--s')).toEqual(['--subject', '--scopes']);
  expect(offered('dlq', 'list', 'fr')).toEqual(['frames']);
  expect(offered('service-keys', 'create', '--service', 'ta')).toEqual(['tasks']);
  expect(offered('keys', 'create', 'name', '--subject', 'acme', '--')).toEqual([
    '--subject',
    '--scopes',
    '--json',
    '--help',
  ]);
});

test('zsh is offered the same words with what they mean', () => {
  const script = zshCompletion(groups, single);
  expect(script).toMatch(/^#compdef visionctl\n/);
  expect(script).toContain("'keys ') next=('create:create an API key'");
});
