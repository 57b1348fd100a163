import { mayRunTexts, programOf } from '../programs.ts';
import { baseName } from '../words.ts';
import { innerStarts } from './inner-commands.ts';
import type { PossibleReading } from './read-possible.ts';
import { execStarts } from './texts-that-run.ts';

/** What a shell would fill in. */
const FILLED_IN = { anywhere: /\$\(|`|\$\{/, whereTextsRun: /\$[\w({@*#?!$'"-]|`/ };

/** Words in which a shell would fill something in, given to programs that may hand them to one. */
export function filledTexts({ commands, computed }: PossibleReading): readonly string[] {
  const key = (argv: readonly string[], index: number) => JSON.stringify([argv, index]);
  const filled = new Set(
    computed.flatMap(({ argv, index }) =>
      innerStarts(argv).flatMap((start) => (start > index ? [] : [key(argv.slice(start), index - start)])),
    ),
  );
  return commands.flatMap(({ argv }) => {
    const [name = '', ...args] = argv;
    const { messages, code, wraps, reads, runsText, feedsNames, texts } = programOf(name);
    const runs = mayRunTexts(name);
    // What stands behind a wrapper is looked at by itself.
    const isWrapper =
      wraps !== undefined && (runsText !== true || feedsNames !== undefined || texts === 'behind-option');
    if (messages === 'all' || isWrapper || code?.isPlain?.(args) === true) return [];
    if (!runs && reads !== undefined) return [];
    const end = execStarts(argv)[0] ?? argv.length;
    const sign = runs ? FILLED_IN.whereTextsRun : FILLED_IN.anywhere;
    const word = argv.find(
      (each, at) =>
        at > 0 &&
        at < end &&
        sign.test(each) &&
        !filled.has(key(argv, at)) &&
        messages?.options.includes(argv[at - 1] ?? '') !== true,
    );
    return word === undefined ? [] : [`What ${baseName(name)} makes of ${word} is not known.`];
  });
}
