import { toCsvRow } from './csv';

describe('a row of CSV', () => {
  it('quotes separators, quotes and line ends, and ends with CRLF', () => {
    expect(toCsvRow(['a', 'b,c', 'd"e', 'f\ng', ''])).toBe('a,"b,c","d""e","f\ng",\r\n');
  });

  it('writes numbers with their sign, and nothing for null', () => {
    expect(toCsvRow([-100, 0, true, null, undefined])).toBe('-100,0,true,,\r\n');
    expect(toCsvRow(['-100', '-0.5'])).toBe('-100,-0.5\r\n');
  });

  it.each(['=1+1', '+1', '-1+1', '-A1', '@SUM(A1)'])('neutralises the formula %j', (text) => {
    expect(toCsvRow([text])).toBe(`'${text}\r\n`);
  });

  // A spreadsheet may also remove the space, or the quotes, in front of a formula.
  it.each(['', 'x'])('neutralises a formula wherever a cell can begin, after %j', (start) => {
    for (const separator of ['\t', ';', '; ', ';\t', ';"'])
      expect(toCsvRow([`${start}${separator}=1`])).toContain(`'=1`);
    for (const lineBreak of ['\n', '\r', '\r\n', '\n ', '\n\n', '\n"'])
      expect(toCsvRow([`${start}${lineBreak}=cmd|' /C calc'!A0;y`])).toContain(`'=cmd|`);
  });

  it('neutralises a formula behind a semicolon or tab, at which some spreadsheets split a line', () => {
    expect(toCsvRow(['x;=1+1;y', 'x\t @A1', '1;2'])).toBe("x;'=1+1;y,x\t '@A1,1;2\r\n");
  });

  it('neutralises a formula that must be quoted', () => {
    expect(toCsvRow(['=A1,"x"'])).toBe(`"'=A1,""x"""\r\n`);
    expect(toCsvRow(['\r=1'])).toBe(`"\r'=1"\r\n`);
    expect(toCsvRow(['a\n=1;b\n-c'])).toBe(`"a\n'=1;b\n'-c"\r\n`);
  });

  it('keeps other text as it is', () => {
    expect(toCsvRow(['Ünal 東京', "O'Neil", 'a=b'])).toBe("Ünal 東京,O'Neil,a=b\r\n");
  });
});
