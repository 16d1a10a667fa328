// The programs that only read, each with the options that are known. One that is not listed here
// makes a command unknown: it may be new, and write or run something.
#include <array>

#include "policy/shell/program.h"

namespace stet::policy {
namespace {

constexpr ShellEffect kReads = ShellEffect::kReadOnly;
constexpr Operands kNo = Operands::kNone;
constexpr Operands kFiles = Operands::kRead;

constexpr std::array kReaderRows = {
    // The shell's own. Those that set variables or evaluate are in builtin.cc.
    ProgramRow{": true false echo exit return break continue shift times caller dirs logout ulimit",
               "", kReads, kNo, "*"},
    ProgramRow{"pwd", "", kReads, kNo, "-LP"},
    ProgramRow{"type", "", kReads, kNo, "-aftpP"},
    ProgramRow{"umask", "", kReads, kNo, "-pS"},
    ProgramRow{"jobs", "", kReads, kNo, "-lnprs"},
    ProgramRow{"hash", "", kReads, kNo, "-lrt -d:u -p:x"},
    ProgramRow{"cd pushd popd", "", kReads, kFiles, "-LPen@"},

    // Files as they are, or parts of them.
    ProgramRow{"cat", "", kReads, kFiles,
               "-AbeEnstTuv --show-all --number --number-nonblank --squeeze-blank --show-ends "
               "--show-tabs --show-nonprinting"},
    ProgramRow{"tac", "", kReads, kFiles, "-br -s:v --before --regex --separator:v"},
    ProgramRow{"head", "", kReads, kFiles,
               "-nc:v -qvz --lines:v --bytes:v --quiet --silent --verbose --zero-terminated"},
    ProgramRow{"tail", "", kReads, kFiles,
               "-ncs:v -fFqvz --lines:v --bytes:v --follow:a --pid:v --quiet --silent --retry "
               "--sleep-interval:v --max-unchanged-stats:v --verbose --zero-terminated"},
    ProgramRow{"nl", "", kReads, kFiles,
               "-bdfhilnsvw:v -p --body-numbering:v --number-format:v --number-width:v "
               "--number-separator:v --starting-line-number:v --line-increment:v --no-renumber"},
    ProgramRow{"wc", "", kReads, kFiles,
               "-clLmw --bytes --chars --lines --words --max-line-length --total:v "
               "--files0-from:u"},
    ProgramRow{"cut", "", kReads, kFiles,
               "-bcdf:v -nsz --bytes:v --characters:v --delimiter:v --fields:v --complement "
               "--only-delimited --output-delimiter:v --zero-terminated"},
    ProgramRow{"tr", "", kReads, kNo,
               "-cCdst --complement --delete --squeeze-repeats --truncate-set1"},
    ProgramRow{"paste", "", kReads, kFiles, "-d:v -sz --delimiters:v --serial --zero-terminated"},
    ProgramRow{"join", "", kReads, kFiles,
               "-12aejotv:v -iz --check-order --nocheck-order --header --ignore-case"},
    ProgramRow{"comm", "", kReads, kFiles,
               "-123z --check-order --nocheck-order --output-delimiter:v --total "
               "--zero-terminated"},
    ProgramRow{"fold fmt expand unexpand", "", kReads, kFiles,
               "-wgpt:v -abcistu --width:v --bytes --spaces --tabs:v --all --first-only --initial "
               "--split-only --uniform-spacing"},
    ProgramRow{"rev", "", kReads, kFiles, "-0hV"},
    ProgramRow{"pr", "", kReads, kFiles, "-acdfFJmrtTv -DehilnNoSsWw:v"},
    ProgramRow{"column", "", kReads, kFiles,
               "-cdEHilNnoOpRrTWsm:v -texJLVh --table --separator:v --output-separator:v "
               "--table-columns:v --json --fillrows --table-right:v --table-name:v"},
    ProgramRow{"look", "", kReads, kNo, "-adf -t:v"},
    ProgramRow{"numfmt", "", kReads, kNo,
               "--from:v --to:v --field:v --suffix:v --padding:v --format:v --header:a "
               "--grouping --round:v --from-unit:v --to-unit:v --delimiter:v -d:v -z"},
    ProgramRow{"od hexdump hd", "", kReads, kFiles,
               "-ANjnStw:v -abcCdfhilovxs:a -e:v --format:v --address-radix:v --skip-bytes:v "
               "--read-bytes:v --strings:a --width:a --output-duplicates --endian:v --canonical "
               "--length:v --skip:v --no-squeezing"},
    ProgramRow{"md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum", "", kReads,
               kFiles,
               "-bctwzrsal:a --binary --check --text --tag --zero --ignore-missing --quiet "
               "--status --strict --warn --algorithm:v --length:v"},
    ProgramRow{"shasum", "", kReads, kFiles, "-a:v -bcpst0 --check --algorithm:v --binary --text"},
    ProgramRow{"base32 base64", "", kReads, kFiles, "-diD -w:v --decode --ignore-garbage --wrap:v"},
    ProgramRow{"cmp", "", kReads, kFiles,
               "-bls -in:v --print-bytes --verbose --quiet --silent --ignore-initial:v --bytes:v"},
    ProgramRow{"diff colordiff", "", kReads, kFiles,
               "-abBcdeEilnNpqrstTuwyZ -CDFILSUWxX:v --recursive:T --brief --unified:a --context:a "
               "--side-by-side --color:a --ignore-all-space --ignore-space-change "
               "--ignore-blank-lines --ignore-case --ignore-trailing-space --ignore-tab-expansion "
               "--ignore-matching-lines:v --new-file --minimal --text --label:v --width:v "
               "--exclude:v --exclude-from:r --suppress-common-lines --report-identical-files "
               "--strip-trailing-cr --show-c-function --speed-large-files --expand-tabs "
               "--no-dereference --from-file:u --to-file:u --line-format:v --normal "
               "--old-line-format:v --new-line-format:v --unchanged-line-format:v --tabsize:v"},
    ProgramRow{"diff3", "", kReads, kFiles,
               "-3aAeEimTxX -L:v --merge --show-all --show-overlap --easy-only --ed --text "
               "--label:v --diff-program:x"},
    ProgramRow{"wdiff", "", kReads, kFiles, "-123n --statistics --no-deleted --no-inserted"},
    ProgramRow{"zcat bzcat xzcat zstdcat lz4cat", "", kReads, kFiles, "-dcfqvkt -o:w --rm:d"},
    ProgramRow{"xxd", "", kReads, kFiles, "-abeEipRu -cglos:v -r:u"},
    ProgramRow{"iconv", "", kReads, kFiles,
               "-ft:v -clns --from-code:v --to-code:v --list -o:w --output:w"},
    ProgramRow{"bat batcat", "", kReads, kFiles,
               "-AnpPSu -HlrwtmE:v --plain --number --paging:v --color:v --style:v --language:v "
               "--line-range:v --highlight-line:v --decorations:v --theme:v --wrap:v --tabs:v "
               "--show-all --terminal-width:v --file-name:v --no-paging --pager:x"},

    // What a file is.
    ProgramRow{"ls dir vdir", "", kReads, kFiles,
               "-aAbBcCdfFgGhHiklLmnNopqQrsStuUvxXZ1 -IwT:v -R:t --recursive:t --all --almost-all "
               "--author --escape --block-size:v --ignore-backups --color:a --directory --dired "
               "--classify:a --file-type --format:v --full-time --group-directories-first "
               "--no-group --human-readable --si --dereference --dereference-command-line "
               "--hide:v --hyperlink:a --indicator-style:v --inode --ignore:v --kibibytes "
               "--numeric-uid-gid --literal --quote-name --quoting-style:v --reverse --size "
               "--sort:v --time:v --time-style:v --tabsize:v --width:v --context --zero"},
    ProgramRow{"exa eza lsd", "", kReads, kFiles,
               "-1aAbBdDfFgGhHiIlmMnorSuUx -LstwX:v -RT:t --tree:t --recursive:t --level:v --all "
               "--long --git --icons:a --sort:v --header --color:a --group-directories-first "
               "--oneline --git-ignore --no-permissions --no-user --no-time --time-style:v "
               "--links --inode --reverse --only-dirs --only-files --ignore-glob:v --classify:a"},
    ProgramRow{"tree", "", kReads, Operands::kTree,
               "-aACdDfFghiJnNpqQrsStuUvxX -lR:u -HILPT:v -o:w --dirsfirst --filesfirst --du "
               "--gitignore --noreport --prune --si --sort:v --charset:v --filelimit:v --inodes "
               "--device --timefmt:v --matchdirs --ignore-case --metafirst --hintro:r --houtro:r "
               "--info --infofile:r --gitfile:r --fromfile:u"},
    ProgramRow{"du", "", kReads, Operands::kTree,
               "-0abcDhHklLmPsSx -BdtX:v --all --apparent-size --bytes --total --count-links "
               "--summarize --human-readable --max-depth:v --block-size:v --threshold:v --time:a "
               "--time-style:v --exclude:v --exclude-from:r --inodes --null --separate-dirs --si "
               "--one-file-system --dereference --dereference-args --no-dereference "
               "--files0-from:u"},
    ProgramRow{"stat", "", kReads, kFiles,
               "-fLt -c:v --format:v --printf:v --dereference --file-system --terse --cached:v"},
    ProgramRow{"file", "", kReads, kFiles,
               "-0bcdEhiklLnNprsSv -eFP:v -m:r --brief --mime --mime-type --mime-encoding "
               "--extension --dereference --no-dereference --keep-going --raw --print0 --exclude:v "
               "--separator:v --magic-file:r --special-files -f:u --files-from:u -C:u --compile:u "
               "-zZ:u --uncompress:u"},
    ProgramRow{"readlink realpath", "", kReads, kFiles,
               "-efmnqsvzLP --canonicalize --canonicalize-existing --canonicalize-missing "
               "--no-newline --quiet --silent --verbose --zero --logical --physical --strip "
               "--no-symlinks --relative-to:v --relative-base:v"},
    ProgramRow{"basename dirname", "", kReads, kNo, "-az -s:v --multiple --suffix:v --zero"},
    ProgramRow{"getfacl lsattr namei", "", kReads, kFiles, "-acdeElLmnopstxvV -R:t --recursive:t"},
    ProgramRow{"cloc tokei scc", "", kReads, Operands::kTree,
               "--by-file --quiet --json --csv --md --yaml --xml --hide-rate --files "
               "--include-lang:v --exclude-lang:v --exclude-dir:v --exclude-ext:v --include-ext:v "
               "--match-f:v --not-match-f:v --match-d:v --not-match-d:v --sort:v --exclude:v "
               "--type:v --no-cocomo --no-complexity --compact -ewtist:v -f"},

    // Objects and archives.
    ProgramRow{"nm", "", kReads, kFiles,
               "-aABCDghjlnoprsSuUvW -Xeft:v --debug-syms --defined-only --demangle:a --dynamic "
               "--extern-only --no-sort --numeric-sort --print-file-name --print-size --size-sort "
               "--reverse-sort --undefined-only --format:v --radix:v --just-symbols --line-numbers "
               "--plugin:x"},
    ProgramRow{"objdump", "", kReads, kFiles,
               "-aCdDefFghHilprsStTvVwxzG -bEIjmMPW:a --disassemble:a --disassemble-all "
               "--all-headers --section:v --section-headers --headers --syms --dynamic-syms "
               "--demangle:a --source --line-numbers --no-show-raw-insn --start-address:v "
               "--stop-address:v --full-contents --reloc --dynamic-reloc --private-headers "
               "--file-headers --disassembler-options:v --wide --plugin:x"},
    ProgramRow{"readelf", "", kReads, kFiles,
               "-aACdDehIlnrsStTuvVWzg -pRUx:v -w:a --all --file-header --program-headers "
               "--section-headers --sections --segments --symbols --syms --dyn-syms --dynamic "
               "--headers --notes --relocs --wide --hex-dump:v --string-dump:v --debug-dump:a "
               "--version-info --demangle:a"},
    ProgramRow{"strings size", "", kReads, kFiles,
               "-aABdfGotw -enTUsx:v --all --data --bytes:v --radix:v --encoding:v "
               "--print-file-name --format:v --totals --common"},

    // Search.
    ProgramRow{"grep egrep fgrep zgrep", "", kReads, Operands::kPattern,
               "-abcEFGhHiIlLnoPqsTUvVwxyzZ -ABCmD:v -e:p -f:q -r:t -R:T --recursive:t "
               "--dereference-recursive:T --regexp:p --file:q "
               "--after-context:v --before-context:v --context:v --max-count:v --include:v "
               "--exclude:v --exclude-dir:v --exclude-from:r --color:a --colour:a --count "
               "--extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case "
               "--no-ignore-case --invert-match --word-regexp --line-regexp --line-number "
               "--only-matching --files-with-matches --files-without-match --with-filename "
               "--no-filename --no-messages --quiet --silent --byte-offset --text --binary "
               "--binary-files:v --null --null-data --initial-tab --label:v --line-buffered "
               "--devices:v --group-separator:v --no-group-separator"},
    ProgramRow{"rg", "", kReads, Operands::kPattern,
               "-abcFHhIilNnoPpqSsUuvVwx0. -ABCdgjmMrTt:v -e:p -f:q -L:T --follow:T --regexp:p "
               "--file:q --after-context:v --before-context:v --context:v --max-count:v "
               "--max-depth:v --max-columns:v --max-filesize:v --glob:v --iglob:v --type:v "
               "--type-not:v --type-list:P --files:P --files-with-matches "
               "--files-without-match --fixed-strings --ignore-case --smart-case --case-sensitive "
               "--line-number --no-line-number --column --no-filename --with-filename --no-heading "
               "--heading --hidden --no-ignore --no-ignore-vcs --unrestricted --multiline "
               "--multiline-dotall --only-matching --count --count-matches --json --vimgrep "
               "--word-regexp --line-regexp --invert-match --replace:v --color:v --colors:v "
               "--sort:v --sortr:v --stats --text --trim --passthru --pcre2 --null --quiet "
               "--threads:v --max-columns-preview --context-separator:v --no-messages "
               "--ignore-file:r --no-config --one-file-system --crlf --encoding:v -E:v --pretty "
               "--glob-case-insensitive --no-follow --pre:x --pre-glob:v --hostname-bin:x "
               "-z:X --search-zip:X --debug --trace --include-zero --engine:v --auto-hybrid-regex"},
    ProgramRow{"ag", "", kReads, Operands::kPattern,
               "-aciHhlLnoQsSuUvwz0 -ABCGgmp:v -f:T --follow:T --hidden --ignore:v --ignore-dir:v "
               "--nocolor --nogroup --noheading --count --files-with-matches --literal --depth:v "
               "--after:v --before:v --context:v --stats --pager:x"},

    // Order and structure.
    ProgramRow{"sort", "", kReads, kFiles,
               "-bcCdfghiMmnRrsuVz -kStT:v --key:v --field-separator:v --unique --reverse "
               "--numeric-sort --general-numeric-sort --human-numeric-sort --version-sort "
               "--month-sort --random-sort --ignore-case --ignore-leading-blanks "
               "--ignore-nonprinting --dictionary-order --stable --merge --zero-terminated "
               "--parallel:v --buffer-size:v --sort:v --check:a --debug --batch-size:v "
               "--temporary-directory:v --random-source:r -o:w --output:w --compress-program:x "
               "--files0-from:u"},
    ProgramRow{"jq gojq", "", kReads, Operands::kPattern,
               "-aceCMnrRsSj -f:u --from-file:u -L:u --arg:2 --argjson:2 --slurpfile:U "
               "--rawfile:U --args --jsonargs --raw-output --raw-output0 --raw-input --slurp "
               "--null-input --compact-output --sort-keys --exit-status --color-output "
               "--monochrome-output --join-output --ascii-output --tab --indent:v --seq --stream "
               "--stream-errors --unbuffered"},
    ProgramRow{"yq", "", kReads, Operands::kPattern,
               "-cCeMNnPrjy -oIp:v -i:i --inplace:i --in-place:i -s:u --split-exp:u --raw-output "
               "--output-format:v --input-format:v --prettyPrint --unwrapScalar:a --no-colors "
               "--colors --indent:v --null-input --exit-status --no-doc --tojson --yaml-output"},
    ProgramRow{"xmllint", "", kReads, kFiles,
               "-o:w --output:w --format --noout --xpath:v --nonet --html --recover --pretty:v "
               "--encode:v --schema:r --relaxng:r --c14n --noblanks --nowarning --noerror --huge"},

    // The machine.
    ProgramRow{"date", "", kReads, kNo,
               "-Ru -I:a -d:v --date:v --iso-8601:a --rfc-3339:v --rfc-email --utc --universal "
               "--debug --resolution -f:r --file:r -r:r --reference:r -s:u --set:u"},
    ProgramRow{"hostname", "", kReads, kNo,
               "-sfdiIyAa --short --fqdn --ip-address --all-ip-addresses --long --domain -F:u "
               "--file:u -b:u --boot:u"},
    ProgramRow{"stty", "", kReads, kNo, "-ag --all --save -F:u --file:u"},
    ProgramRow{"uniq", "", kReads, kFiles,
               "-cdDiuz -fsw:v --count --repeated --unique --ignore-case --skip-fields:v "
               "--skip-chars:v --check-chars:v --all-repeated:a --group:a --zero-terminated"},
    ProgramRow{"which", "", kReads, kNo, "-as --all"},
    ProgramRow{"whereis", "", kReads, kNo, "-bmsul"},
    ProgramRow{"uname arch nproc", "", kReads, kNo,
               "-amnoprsvi --all --machine --kernel-name --kernel-release --nodename --processor "
               "--operating-system --ignore:v"},
    ProgramRow{"whoami id groups tty", "", kReads, kNo,
               "-agGnruzZs --user --group --groups --name --real --zero --silent --quiet"},
    ProgramRow{"users who w uptime", "", kReads, kNo,
               "-abdHlmpqrsTtuwfhio --all --boot --heading --count --pretty --since --short"},
    ProgramRow{"free", "", kReads, kNo,
               "-bgkmhltvw -cs:v --bytes --kibi --mebi --gibi --human --total --wide --si --mega "
               "--giga --kilo --count:v --seconds:v --lohi"},
    ProgramRow{"df", "", kReads, kFiles,
               "-ahHiklPTv -Btx:v --all --human-readable --si --inodes --local --portability "
               "--print-type --total --block-size:v --output:a --type:v --exclude-type:v"},
    ProgramRow{"lscpu lsblk lsusb lspci lsmod", "", kReads, kNo,
               "-abBCdDefhiJkKlLmMnNOpPqrsStTvVxyz0 -oIE:v --json --all --list --output:v --bytes "
               "--fs --paths --tree --extended:a --parse:a --nodeps --noheadings"},
    ProgramRow{"printenv", "", kReads, kNo, "-0 --null"},
    ProgramRow{"locale", "", kReads, kNo, "-acmkv --all-locales --charmaps"},
    ProgramRow{"getconf", "", kReads, kNo, "-a -v:v"},
    ProgramRow{"sleep factor yes", "", kReads, kNo, ""},
    ProgramRow{"expr", "", kReads, kNo, "*"},
    ProgramRow{"seq", "", kReads, kNo, "-w -fs:v --equal-width --separator:v --format:v"},
    ProgramRow{"bc", "", kReads, kFiles, "-lqsw --mathlib --quiet --standard --warn"},
    ProgramRow{"sw_vers vmstat iostat", "", kReads, kNo, "-acdfhkmnNpstwxyz -S:v"},
    ProgramRow{"ps", "", kReads, kNo,
               "-aAcdeEfFHjlLmMNnTVwxyZ -CgGopOqstuU:v --forest --no-headers --headers --sort:v "
               "--format:v --pid:v --ppid:v --user:v --group:v --tty:v --cols:v --columns:v "
               "--width:v --rows:v --lines:v --deselect --info --cumulative"},
    ProgramRow{"pgrep pidof pstree", "", kReads, kNo,
               "-acflnovxwhApAgTtZS -dFGgPsUuL:v --full --list-name --list-full --exact --newest "
               "--oldest --count --delimiter:v --parent:v --uid:v --euid:v --group:v --inverse "
               "--ignore-case -i"},
    ProgramRow{"lsof", "", kReads, kNo, "-abCEhKlMNnOPQRtUVvwXx -iFfgLSTrsocdpu:a -D:u"},
    ProgramRow{"ss", "", kReads, kNo,
               "-0146aBbeEHhilmMnOopPrsStTuUVwxzZ -Af:v --all --listening --tcp --udp --unix "
               "--numeric --processes --summary --extended --info --options --no-header --ipv4 "
               "--ipv6 --oneline --memory --family:v --query:v -D:w --diag:w -F:r --filter:r -K:d "
               "--kill:d -N:u --net:u"},
    ProgramRow{"netstat", "", kReads, kNo,
               "-46aceFgilMnNoprstuvwWxC --all --listening --tcp --udp --numeric --programs "
               "--route --statistics --interfaces:a --extend --wide --unix"},
    ProgramRow{"getent", "", kReads, kNo, "-s:v -i"},
    ProgramRow{"last", "", kReads, kNo, "-adFiRwx -nst:v -f:r"},
    ProgramRow{"tput", "", kReads, kNo, "-T:v"},
    ProgramRow{"cal", "", kReads, kNo, "-13jmsywhS -ABdn:v"},
    ProgramRow{"command-not-found", "", kReads, kNo, ""},
    ProgramRow{"locate", "", kReads, kNo,
               "-0AbceilprSw -dnl:v --limit:v --count --ignore-case --basename --regex --regexp:v"},
    ProgramRow{"clear", "", kReads, kNo, "-x"},
    ProgramRow{"systemctl service",
               "status list-units list-unit-files show cat is-active is-enabled", kReads, kNo,
               "-alqr -npPt:v --all --no-pager --user --system --type:v --state:v --property:v "
               "--value --full --no-legend --failed --lines:v --quiet --plain -H:x --host:x "
               "-M:x --machine:x"},
    ProgramRow{"journalctl", "", kReads, kNo,
               "-abefklmqrx -ncopuStgUI:v -D:r --no-pager --unit:v --user-unit:v --lines:v "
               "--since:v --until:v --boot:a --priority:v --output:v --grep:v --reverse --dmesg "
               "--follow --catalog --quiet --utc --identifier:v --list-boots --disk-usage "
               "--vacuum-size:d --vacuum-time:d --vacuum-files:d --rotate:u --cursor-file:w"},
    ProgramRow{"rustup", "show which check toolchain+list target+list component+list", kReads, kNo,
               "-v --verbose --installed --toolchain:v"},
    ProgramRow{"go", "version env doc help", kReads, kNo,
               "-json -all -src -u:u -short -cmd -c -m -v -w:u -changed -toolexec:x -exec:x"},
    ProgramRow{"pip pip3 pipx", "list show freeze check help config+list --version debug inspect",
               kReads, kNo,
               "-oulefqv --outdated --uptodate --local --user --editable --format:v --files "
               "--verbose --quiet --not-required --exclude:v --all --path:r --log:w "
               "--include-editable --exclude-editable --disable-pip-version-check --short --json"},
    ProgramRow{"dpkg dpkg-query", "", kReads, kNo,
               "-lLsSpW -f:v --list --listfiles --status --search --show --showformat:v "
               "--print-architecture --get-selections"},
    ProgramRow{"direnv", "status version", kReads, kNo, "--json"},
    ProgramRow{"apt apt-get apt-cache dnf yum apk pacman brew snap",
               "list show search policy info --version -l -L -S -s -W config outdated deps depends "
               "rdepends madison",
               kReads, kNo,
               "-lLSsWaqnf --installed --upgradable --all-versions --names-only --full --listfiles "
               "--list --status --search --show --showformat:v --json --versions --formula --cask "
               "--installed-on-request -o:x --option:x -c:x --config-file:x --admindir:x --root:x"},
};

}  // namespace

std::span<const ProgramRow> ReaderRows() { return kReaderRows; }

}  // namespace stet::policy
