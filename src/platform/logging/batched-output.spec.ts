import pino from 'pino';
import { batchedOutput } from './batched-output';

describe('batched output', () => {
  const written: string[] = [];
  const logger = pino({ base: undefined, timestamp: false }, batchedOutput({ write }));

  function write(text: string): void {
    written.push(text);
  }

  const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  const messages = (): readonly (readonly string[])[] =>
    written.map((text) => text.match(/(?<="msg":")\w+/g) ?? []);

  beforeEach(() => (written.length = 0));

  it('is written at the end of the turn', async () => {
    logger.info('one');
    logger.child({ part: 1 }).info('two');
    expect(written).toEqual([]);
    await endOfTurn();
    expect(messages()).toEqual([['one', 'two']]);
    logger.info('three');
    await endOfTurn();
    expect(messages()).toEqual([['one', 'two'], ['three']]);
  });

  it.each(['warn', 'error', 'fatal'] as const)(
    'are written at once before a line of %s',
    (level) => {
      logger.info('one');
      logger[level]('two');
      expect(messages()).toEqual([['one', 'two']]);
    },
  );

  it('are written when the process exits', () => {
    logger.info('last');
    process.emit('exit', 0);
    expect(messages()).toEqual([['last']]);
  });
});
