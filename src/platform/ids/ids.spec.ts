import { firstIdAt, isId, newId } from './ids';

describe('ids', () => {
  it('carry the prefix of their resource', () => {
    const id = newId('cus');
    expect(id).toMatch(/^cus_[0-9a-z]{26}$/);
    expect(isId('cus', id)).toBe(true);
    expect(isId('pay', id)).toBe(false);
  });

  it('made by one process sort in the order they were made', () => {
    const ids = Array.from({ length: 5_000 }, () => newId('evt'));
    expect([...ids].sort()).toEqual(ids);
  });

  it('are not later than the clock after it was an hour ahead for one id', () => {
    jest.useFakeTimers({ now: Date.now() + 3_600_000 });
    newId('inv');
    jest.useRealTimers();
    const id = newId('whe');
    expect(id < firstIdAt('whe', new Date(Date.now() + 1_000))).toBe(true);
  });

  it.each([
    ['', 'empty'],
    ['cus_', 'no suffix'],
    ['cus_01h455vb4pex5vsknk084sn02', 'too short'],
    ['cus_01h455vb4pex5vsknk084sn02qq', 'too long'],
    ['cus_81h455vb4pex5vsknk084sn02q', 'more than 128 bits'],
    ['cus_01H455VB4PEX5VSKNK084SN02Q', 'upper case'],
    ['cus_01h455vb4pex5vsknk084sn0il', 'letters outside the alphabet'],
    ['01h455vb4pex5vsknk084sn02q', 'no prefix'],
    ['cus_01h455vb4pex5vsknk084sn02\u0000', 'a NUL byte'],
  ])('%j is not an id: %s', (text) => {
    expect(isId('cus', text)).toBe(false);
  });
});
