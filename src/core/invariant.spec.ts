import { invariant, InvariantError } from './invariant';

describe('invariant', () => {
  test('what holds passes in silence', () => {
    expect(() => invariant(1 + 1 === 2, 'arithmetic')).not.toThrow();
  });

  test('what does not hold is an InvariantError that says which promise broke', () => {
    expect(() => invariant(false, 'lines add up')).toThrow(InvariantError);
    expect(() => invariant(false, 'lines add up')).toThrow('lines add up');
    expect(new InvariantError('x').name).toBe('InvariantError');
  });
});
