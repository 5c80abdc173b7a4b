import type { Command, CommandGroup } from './command.ts';

/** A word that may come next, and what it means. */
interface Word {
  word: string;
  summary: string;
}

/** What may follow the words typed so far; `*` stands for anything behind them. */
interface Place {
  pattern: string;
  words: Word[];
}

/** For `source <(visionctl completion bash)`. */
export function bashCompletion(groups: CommandGroup[], single: Command[]): string {
  const cases = placesOf(groups, single).map(
    ({ pattern, words }) => `    ${pattern}) words='${words.map(({ word }) => word).join(' ')}' ;;`,
  );
  return `_visionctl() {
  local typed='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do typed+="$word "; done
  case "$typed" in
${cases.join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -F _visionctl visionctl`;
}

/** For `source <(visionctl completion zsh)` behind `compinit`. */
export function zshCompletion(groups: CommandGroup[], single: Command[]): string {
  const cases = placesOf(groups, single).map(({ pattern, words }) => {
    const described = words.map(({ word, summary }) => `'${word}:${summary.replaceAll("'", '’')}'`);
    return `    ${pattern}) next=(${described.join(' ')}) ;;`;
  });
  return `#compdef visionctl
_visionctl() {
  local typed='' word
  local -a next
  for word in "\${(@)words[2,CURRENT-1]}"; do typed+="$word "; done
  case "$typed" in
${cases.join('\n')}
  esac
  _describe 'visionctl' next
}
compdef _visionctl visionctl`;
}

/** The most exact places first: a shell takes the first that fits. */
function placesOf(groups: CommandGroup[], single: Command[]): Place[] {
  const ofGroups = groups.flatMap(({ name, alias, commands }) =>
    [name, ...(alias === undefined ? [] : [alias])].flatMap((word) => [
      ...commands.flatMap((command) => placesOfCommand(`${word} ${command.name} `, command)),
      { pattern: `'${word} '`, words: commands.map(toWord) },
    ]),
  );
  return [
    ...ofGroups,
    ...single.flatMap((command) => placesOfCommand(`${command.name} `, command)),
    { pattern: "''", words: [...groups.map(toWord), ...single.map(toWord), { word: 'help', summary: 'show help' }] },
  ];
}

/** The values of an option, then options and the choices of the first argument. */
function placesOfCommand(start: string, { args = [], options = {} }: Command): Place[] {
  const values = Object.entries(options).flatMap(([name, { choices }]) =>
    choices ? [{ pattern: `'${start}'*'--${name} '`, words: choices.map((word) => ({ word, summary: '' })) }] : [],
  );
  const offered = Object.entries(options).map(([name, { summary }]) => ({ word: `--${name}`, summary }));
  const everywhere = [...offered, { word: '--json', summary: 'print JSON' }, { word: '--help', summary: 'show help' }];
  const choices = (args[0]?.choices ?? []).map((word) => ({ word, summary: '' }));
  return [
    ...values,
    { pattern: `'${start}'`, words: [...choices, ...everywhere] },
    { pattern: `'${start}'*`, words: everywhere },
  ];
}

const toWord = ({ name, summary }: { name: string; summary: string }): Word => ({ word: name, summary });
