import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync, types } from '@babel/core';
import type { NodePath, PluginObj } from '@babel/core';
import { GLOBAL } from './feedback.ts';
import type { Feedback } from './feedback.ts';

/**
 * From now on, modules whose path holds one of `parts` tell `feedback` which edges they pass and what they compare.
 * Line numbers stay, so that errors point into the sources.
 */
export function instrumentModules(feedback: Feedback, parts: readonly string[]): void {
  Object.assign(globalThis, { [GLOBAL]: feedback });
  registerHooks({
    load: (url, context, next) => {
      const path = url.startsWith('file:') ? fileURLToPath(url) : '';
      if (!parts.some((part) => path.includes(part))) return next(url, context);
      if (path.endsWith('.ts')) {
        const source = stripTypeScriptTypes(readFileSync(path, 'utf8'));
        return { format: 'module', shortCircuit: true, source: instrument(source, path, feedback) };
      }
      const loaded = next(url, context);
      // Without a format it is a CommonJS module that another one requires.
      const format = loaded.format ?? 'commonjs';
      if (format !== 'module' && format !== 'commonjs') return loaded;
      return { format, shortCircuit: true, source: instrument(readFileSync(path, 'utf8'), path, feedback) };
    },
  });
}

function instrument(source: string, filename: string, feedback: Feedback): string {
  const result = transformSync(source, {
    filename,
    babelrc: false,
    configFile: false,
    retainLines: true,
    compact: false,
    sourceType: 'unambiguous',
    plugins: [() => countEdges(feedback), () => watchComparisons(feedback)],
  });
  if (!result?.code) throw new Error(`${filename} could not be instrumented`);
  const head = `const ${GLOBAL} = globalThis.${GLOBAL}, ${GLOBAL}Edges = ${GLOBAL}.edges; `;
  return head + result.code;
}

function countEdges(feedback: Feedback): PluginObj {
  const hit = () => {
    const place = types.memberExpression(
      types.identifier(`${GLOBAL}Edges`),
      types.numericLiteral(feedback.edgeCount),
      true,
    );
    feedback.edgeCount += 1;
    if (feedback.edgeCount > feedback.edges.length) throw new Error('more edges than there is room for');
    return types.updateExpression('++', place);
  };
  const before = (expression: types.Expression) => types.sequenceExpression([hit(), expression]);
  const within = (statement: types.Statement) => {
    const mark = types.expressionStatement(hit());
    if (!types.isBlockStatement(statement)) return types.blockStatement([mark, statement]);
    statement.body.unshift(mark);
    return statement;
  };
  return {
    visitor: {
      Function: ({ node }) => {
        node.body = types.isBlockStatement(node.body) ? within(node.body) : before(node.body);
      },
      IfStatement: ({ node }) => {
        node.consequent = within(node.consequent);
        node.alternate = within(node.alternate ?? types.blockStatement([]));
      },
      Loop: ({ node }) => {
        node.body = within(node.body);
      },
      SwitchCase: ({ node }) => {
        node.consequent.unshift(types.expressionStatement(hit()));
      },
      CatchClause: ({ node }) => {
        node.body = within(node.body);
      },
      ConditionalExpression: ({ node }) => {
        node.consequent = before(node.consequent);
        node.alternate = before(node.alternate);
      },
      LogicalExpression: ({ node }) => {
        node.right = before(node.right);
      },
    },
  };
}

function watchComparisons({ words }: Feedback): PluginObj {
  const call = (name: 'same' | 'note', left: types.Expression, right: types.Expression) =>
    types.callExpression(types.memberExpression(types.identifier(GLOBAL), types.identifier(name)), [left, right]);
  const handled = new WeakSet<types.Node>();
  return {
    visitor: {
      StringLiteral: ({ node }) => {
        words.add(node.value);
      },
      NumericLiteral: ({ node }) => {
        words.add(node.value);
      },
      BinaryExpression: {
        exit: (path: NodePath<types.BinaryExpression>) => {
          const { left, right, operator } = path.node;
          if (types.isPrivateName(left) || types.isUnaryExpression(left, { operator: 'typeof' })) return;
          if (operator === '===') path.replaceWith(call('same', left, right));
          if (operator === '!==') path.replaceWith(types.unaryExpression('!', call('same', left, right)));
          const isOrder = ['<', '<=', '>', '>='].includes(operator);
          // Both sides are read twice, so only what has no effects.
          if (!isOrder || !isPlain(left) || !isPlain(right) || handled.has(path.node)) return;
          handled.add(path.node);
          path.replaceWith(types.sequenceExpression([call('note', left, right), path.node]));
        },
      },
    },
  };
}

function isPlain(node: types.Expression): boolean {
  if (types.isMemberExpression(node)) return !node.computed && isPlain(node.object);
  return types.isIdentifier(node) || types.isNumericLiteral(node);
}
