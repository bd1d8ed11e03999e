set -e
D=$1
cp -al REPO/.venv $D/.venv
cd $D/.venv
for f in $(grep -rlIE 'REPO' --include='*.pth' --include='*.json' lib/python3.11/site-packages 2>/dev/null; grep -lI 'REPO' bin/*); do cp $f $f.n; rm $f; sed "s#REPO#$D#g" $f.n > $f; chmod --reference=$f.n $f; rm $f.n; done
rm -f ready-*; touch ready-to-run ready-to-test
